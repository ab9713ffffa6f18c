//! English sentence banks.

use super::Bank;

const MONTHS: [&str; 12] = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
];

const NAMES: [&str; 8] = [
    "Hazel Thornbury", "Rufus Adeyemi", "Imogen Pike", "Callum Strand", "Nora Whitlock", "Desmond Fairley", "Tilda Marsh",
    "Owen Hartnell",
];

/// Boats, harbours and weather.
pub(crate) const HARBOUR: Bank = Bank {
    lang: "en",
    titles: &[
        "Fog over {p}", "The last ferry from {p}", "Mending nets at {p}", "What the tide left at {p}", "A lighthouse keeper’s shelf in {p}",
        "Winter moorings at {p}", "The bell buoy off {p}", "Learning to scull in {p}",
    ],
    openings: &[
        "The forecast for {p} was read twice, and neither reading mentioned the fog.",
        "Anyone who sails into {p} at low water learns to trust the withies more than the chart.",
        "{a} has kept a boat at {p} for {n} years and still counts the rocks aloud.",
        "On the first of {m} the harbour office at {p} paints its door a different colour.",
    ],
    body: &[
        "The channel bends twice before the breakwater, and both bends move a little after every gale.",
        "A line of cormorants stood along the pontoon like an unimpressed jury.",
        "We took the dinghy in on the last of the flood and tied up beside a crabber with no name.",
        "The pilot book is {n} years old, but the drawings of the church tower are still exact.",
        "Diesel, fresh water and a decent loaf can all be had within five minutes of the slip.",
        "Somebody had left a jar of marmalade on the tide gauge, with a note of thanks.",
        "In {m} the wind backs to the north-east and the whole anchorage begins to roll.",
        "{a} showed us how to splice a tired rope so that it runs through the block without a sound.",
        "The chandler closes at noon and opens again when the mackerel have been landed.",
        "Past the second buoy the water turns from brown to green as if someone had drawn a line.",
        "There is a bench above the boathouse from which you can see as far as {q} on a clear evening.",
        "Old photographs in the waiting room show {n} smacks where there are now three yachts and a barge.",
        "The engine coughed once, thought about it, and carried us gently round the headland.",
        "Children fish for crabs off the steps and keep a strict tally in chalk.",
        "A seal followed us for half a mile, more curious than hopeful.",
    ],
    closings: &[
        "By nine the lamps were lit and the harbour had gone back to listening to itself.",
        "Next time we shall come in from the south and see whether {p} looks any kinder.",
        "The log for the day ends with a single word: quiet.",
    ],
    places: &["Gullhaven", "Sandry Point", "Old Tarbeck", "Merrow Quay", "Holmsey", "Lantern Bay", "Kestrel Sound", "Port Ennis", "Saltmarsh Reach"],
    people: &NAMES,
    months: &MONTHS,
};

/// Watching birds.
pub(crate) const BIRDS: Bank = Bank {
    lang: "en",
    titles: &[
        "Counting waders at {p}", "A curlew called over {p}", "Swifts return to {p}", "The hide at {p} in {m}", "Notes on owls near {p}",
        "Ringing day at {p}", "Why the lapwings left {p}", "Ten quiet minutes in {p}",
    ],
    openings: &[
        "The count at {p} began before sunrise, with a flask of tea and {n} gloved fingers between us.",
        "It was the voice that gave it away: a long bubbling call somewhere beyond {p}.",
        "{a} has written down every bird seen at {p} since the reedbed was dug.",
        "In {m} the mud at {p} is the busiest place for miles.",
    ],
    body: &[
        "Most of the flock fed along the tideline, probing and moving on without any hurry.",
        "Through the telescope we could read two of the coloured rings, one of them from an island far to the north.",
        "A marsh harrier went over at {n} metres and lifted every duck on the pool.",
        "The hide smells of creosote and wet wool, and somebody always leaves biscuits.",
        "Redshank are the first to complain and the last to settle.",
        "Numbers are down on last {m}, though the wet spring may explain part of it.",
        "{a} asks visitors to keep dogs on the lower path until the chicks can fly.",
        "We logged {n} species before breakfast, which is good for a morning without wind.",
        "The new scrape was dug by hand, and it already holds a small colony of avocets.",
        "A short-eared owl quartered the rough grass until the light failed.",
        "Nobody saw the bittern, but two people heard it and one of them was believed.",
        "Old field notebooks from {q} show that the swifts now arrive nine days earlier.",
        "The warden mows in strips so that there is always some cover left standing.",
        "If you have time for only one stop, take the bench by the sluice and wait.",
        "Gulls drifted inland all afternoon, a sure sign of weather to come.",
    ],
    closings: &[
        "The totals have been sent to the county recorder, and the ledger for {p} closes for the week.",
        "Bring a hat, a pencil and more patience than you think you need.",
        "We will be back at {p} when the tide allows.",
    ],
    places: &["Whimbrel Flats", "Reedham Pool", "Dunnock Lane", "Plover Hill", "Saltings Bridge", "Heron Mere", "Teal Ings", "Dotterel Moss", "Fulmar Cliff"],
    people: &NAMES,
    months: &MONTHS,
};

/// Slow journeys by bicycle.
pub(crate) const CYCLING: Bank = Bank {
    lang: "en",
    titles: &[
        "Forty slow miles to {p}", "The hill before {p}", "A puncture in {p}", "Riding the canal path to {p}", "Choosing tyres for {p}",
        "Rain, mudguards and {p}", "A night train to {p}", "What I carry to {p}",
    ],
    openings: &[
        "There are quicker roads to {p}, and I am glad to have missed all of them.",
        "I left for {p} with {n} pounds of luggage and came home with rather less.",
        "The climb to {p} is not steep, it is merely long, and that is worse.",
        "{a} drew the route to {p} on the back of an envelope, with one wrong turning.",
    ],
    body: &[
        "After the level crossing the lane narrows until grass grows along its middle.",
        "A wide tyre at a modest pressure smooths out more than any clever spring.",
        "I stopped for soup at a farm that sells eggs, firewood and second-hand paperbacks.",
        "The headwind dropped at noon, and for {n} minutes I believed I was fit.",
        "Every village pump along the way still works except the one that is marked on the map.",
        "My old steel frame hums on fresh tarmac and grumbles on gravel.",
        "A retired postman told me that the shortest way to {q} is through the churchyard.",
        "The brake blocks were worn after {n} wet miles, which taught me to carry spares.",
        "In {m} the hedges are full of sloes and the verges smell of mint.",
        "I have stopped looking at my average speed and started counting bridges instead.",
        "{a} met me at the ford with dry socks, an act that cannot be repaid.",
        "The descent was so smooth that I went back up to ride it again.",
        "Lights matter less for seeing than for being seen by tired people in cars.",
        "A good bell, rung early and kindly, does more for peace than any signpost.",
        "The guest house keeps a stand, a hose and a tin of chain oil behind the kitchen door.",
    ],
    closings: &[
        "The route file is on the map page, with a note on the gate that sticks.",
        "Tomorrow I ride on towards {q}, or perhaps I stay another day.",
        "Slow is not a compromise, it is the reason for going.",
    ],
    places: &["Larkfield", "Upper Wend", "Stonebarrow", "Mill Cross", "Ashcombe Ford", "Nettleby", "Long Hathern", "Brackenmoor", "Thistle End"],
    people: &NAMES,
    months: &MONTHS,
};

/// Repairs, tools and small machines.
pub(crate) const WORKSHOP: Bank = Bank {
    lang: "en",
    titles: &[
        "Rebuilding the {p}", "A quieter fan for the {p}", "Reading the {p} service manual", "Why the {p} kept failing",
        "A wooden case for the {p}", "Measuring the {p} properly", "Second life of a {p}", "Small lessons from the {p}",
    ],
    openings: &[
        "The {p} arrived in a shoebox, with two screws missing and a note that said only: sorry.",
        "I have owned this {p} for {n} years and had never once looked inside.",
        "It began as a ten-minute repair of the {p} and it ended in {m}.",
        "{a} lent me a {p} on condition that I write down every step.",
    ],
    body: &[
        "The first rule is to photograph each layer before lifting it, because memory is a poor diagram.",
        "A cracked solder joint hid under the connector and moved only when the board was warm.",
        "I replaced {n} capacitors, although two would have been enough.",
        "The manual is honest about tolerances and silent about the smell.",
        "A strip of felt between the panels took away most of the rattle.",
        "With the cover off the bearing could be heard clearly, dry and a little offended.",
        "Printing a new bracket took three attempts, and the third one still needed a file.",
        "The readings settled after {n} minutes, which is long for a sensor of this age.",
        "{a} suggested checking the ground wire first, and of course that was it.",
        "Old grease turns to varnish, so warm the part and use a wooden stick, never a screwdriver.",
        "Spare parts from a scrapped {q} fitted with a little persuasion.",
        "I drew the circuit twice, once as it is and once as somebody had meant it to be.",
        "There is real pleasure in a switch that clicks the way it did when it was new.",
        "Label the cables with plain paper tape, since ink on plastic is gone within a year.",
        "The whole job cost less than a takeaway meal and used far more tea.",
    ],
    closings: &[
        "It now sits on the bench, humming quietly, waiting for its next excuse to stop.",
        "The drawings are free to use, and corrections are welcome.",
        "If yours fails in the same way, start with the ground wire.",
    ],
    places: &["desk lamp", "tape recorder", "bench drill", "weather station", "reel projector", "valve radio", "label printer", "pendulum clock", "sewing machine"],
    people: &NAMES,
    months: &MONTHS,
};

/// Fruit trees and kitchen gardens.
pub(crate) const ORCHARD: Bank = Bank {
    lang: "en",
    titles: &[
        "Grafting {p} in a cold spring", "Picking {p} before the wasps", "The {p} tree by the gate", "Storing {p} until {m}",
        "Bees among the {p}", "A bad year for {p}", "Planting {p} on a slope", "An old label that says {p}",
    ],
    openings: &[
        "The {p} came into flower on the third of the month, a full week ahead of the notebook.",
        "Nobody planted the {p} by the gate; it simply arrived, and was allowed to stay.",
        "By {m} the last of the {p} have been wrapped in paper and laid in trays.",
        "{a} gave us scions of {p} in exchange for a sack of potatoes.",
    ],
    body: &[
        "Cut just above an outward-facing bud and let the tree decide the rest.",
        "A light frost sweetens the fruit, a hard one ruins it, and the forecast cannot tell them apart.",
        "We counted {n} bumblebees on a single branch in the warmest hour of the day.",
        "The grass is kept long until midsummer for the sake of the frogs and the cowslips.",
        "Canker showed on the older limbs, so the saw was cleaned between every cut.",
        "A stake should hold the roots still while the trunk learns to move.",
        "Windfalls go to the press, the press goes to the neighbours, and the neighbours bring cake.",
        "The soil under the north wall stays damp even in a dry {m}.",
        "{a} marks every graft with a strip of zinc, written on with a nail.",
        "One tray in the loft held {n} sound fruits at the end of winter, which is our best result yet.",
        "Blackbirds take the top of the crop, and we have agreed to call it rent.",
        "Between the rows we sow clover, which asks for nothing and gives a good deal.",
        "The ladder is older than the trees and has been repaired more often.",
        "Against the moth we hang a few traps and otherwise trust the blue tits.",
        "Across the lane the {q} are still in bud, although they share the same soil.",
    ],
    closings: &[
        "The record goes into the book with the weight, the date and a small drawing.",
        "If you would like scions in {m}, send us a postcard.",
        "An orchard is mostly waiting, and the waiting is the good part.",
    ],
    places: &["russet apples", "damsons", "quinces", "medlars", "perry pears", "mirabelles", "cooking apples", "greengages", "morello cherries"],
    people: &NAMES,
    months: &MONTHS,
};

/// Old roads and the history along them.
pub(crate) const WALKS: Bank = Bank {
    lang: "en",
    titles: &[
        "The drovers’ road above {p}", "A milestone near {p}", "Walking the parish bounds of {p}", "The chapel at {p}", "Ridge and furrow around {p}",
        "A map of {p} from memory", "The toll house at {p}", "Three footbridges near {p}",
    ],
    openings: &[
        "The old road leaves {p} behind the smithy and does not meet a car for {n} miles.",
        "On the estate map of {p} the lane is drawn twice as wide as it is today.",
        "{a} led the walk around {p} with a stick in one hand and a rent roll in the other.",
        "We set out from {p} on a bright morning in {m}, with frost still in the ruts.",
    ],
    body: &[
        "Drovers brought cattle this way to the autumn fairs and slept where the verge is widest.",
        "A hollow in the field marks the pond where carts were soaked to tighten their wheels.",
        "The milestone lost its iron plate in the war, but the number {n} can be felt with a finger.",
        "Hawthorn hedges planted at enclosure run straight, while the older ones wander.",
        "The chapel was built by subscription, and the list of names still hangs inside the door.",
        "From the ridge the medieval strips show up as long shadows in the evening light.",
        "A farmer stopped his tractor to tell us that the culvert had been moved by his grandfather.",
        "Court records mention a quarrel over the gate here that lasted {n} years.",
        "{a} believes the name comes from a word for badger, and nobody could disprove it.",
        "The path crosses the railway by a bridge built for a single landowner’s sheep.",
        "In wet weather take the upper track, since the lower one becomes a stream without apology.",
        "Below the quarry a few courses of dressed stone are all that remains of the lime kiln.",
        "The inn kept a lamp burning for travellers from {q} until the turnpike was opened.",
        "Sheep have kept the turf short enough to show the outline of two round huts.",
        "Our copy of the tithe map was made in {m} and has a tea stain the size of a hamlet.",
    ],
    closings: &[
        "The walk takes three hours without stopping, and there is every reason to stop.",
        "Grid references and sources are given at the foot of the printed edition.",
        "Next month the road goes on to {q}.",
    ],
    places: &["Hollinwell", "Cold Ambry", "Fernley Cross", "Great Pentlow", "Oxbarrow", "Saint Wystan", "Quarrendale", "Tithe Green", "Withy Bottom"],
    people: &NAMES,
    months: &MONTHS,
};
