//! Facts about a stack, gathered from AWS.

use super::facts::{
    AlarmsGoTo, Deployment, Fact, Facts, FunctionFacts, MappingFacts, MissingFact, QuotaFacts, SmokeReport, StackFacts,
    StatedSettings,
};
use super::over_ports::{fact, objects, rows, stated};
use crate::commands::model::has_model;
use crate::world::{World, stack_settings};
use anyhow::Result;
use curlew_app::{Flags, ImageScreening, STACK_MODEL, STACK_SETTINGS, Settings as Config};
use curlew_aws::{Connection, DeployedFunction, Functions, MAPPINGS, Mappings, Names, Store, mapping_ids};
use curlew_model::{PageId, QueueName, SourceKey, Timestamp};
use curlew_ports::stage::with_causes;
use curlew_ports::{Blobs, PortError};
use futures::future::join_all;
use std::collections::BTreeMap;

const FUNCTIONS: [&str; 9] = [DISPATCH, "discover", "poll", "fetch", "extract", "remove", "index", "sample", "web"];
/// The function whose environment names the mappings; the first of [`FUNCTIONS`].
const DISPATCH: &str = "dispatch";
/// Environment variable of all functions that names the data bucket.
const BUCKET: &str = "CURLEW_BUCKET";
/// Environment variable of dispatch that says who is notified of alarms.
const ALARMS: &str = "CURLEW_ALARMS";
/// Key that no page and no source has, for requests that test rights.
const NOBODY: &str = "00000000000000000000000000000000";

pub(crate) async fn gather(stack: &str, program: String, config: Config, now: Timestamp) -> Result<Facts> {
    let connection = Connection::from_environment().await;
    let unreached = |why| Facts::new(now, true, program.clone(), Err(why));
    let bucket = match fact(curlew_aws::find_bucket(&connection, stack).await, "s3:ListAllMyBuckets") {
        // AWS cannot be reached, or there is no such stack: every other request would fail, too.
        Err(why @ MissingFact::Failed(_)) => return Ok(unreached(why)),
        bucket => bucket,
    };
    let functions = Functions::new(&connection, stack);
    let deployed: Vec<Fact<DeployedFunction>> =
        join_all(FUNCTIONS.map(async |name| fact(functions.read(name).await, "lambda:GetFunction"))).await;
    let environment = deployed.first().and_then(|dispatch| Some(&dispatch.as_ref().ok()?.environment));

    let named = bucket.clone().ok().or_else(|| environment?.get(BUCKET).cloned());
    let names = Names { stack: stack.to_owned(), bucket: named.clone().unwrap_or_default() };
    let store = Store::new(&connection, names);
    let world = World::of_ports(config, store.ports())?;
    let opened = bucket.map(|bucket| format!("the stack {stack} with the bucket {bucket}"));
    let mut facts = Facts::new(now, true, program, opened);
    rows(&world, &mut facts).await;
    let mut trials = tables(&world, &store).await;
    if named.is_some() {
        facts.settings = Some(settings(world.ports.blobs.as_ref(), environment).await);
        let blobs = &world.ports.blobs;
        trials.push(fact(blobs.list(STACK_SETTINGS, None, 1).await.map(drop), "s3:ListBucket"));
        trials.push(fact(blobs.get(STACK_SETTINGS).await.map(drop), "s3:GetObject"));
        objects(&world, &mut facts).await;
    }
    let mappings = mappings(&connection, stack, environment).await;
    let jobs = store.jobs();
    facts.stack = Some(StackFacts {
        trials,
        version: fact(store.version().await, "dynamodb:GetItem"),
        own_version: curlew_aws::KNOWN_VERSION,
        mappings,
        quota: fact(functions.quota().await, "lambda:GetAccountSettings")
            .map(|quota| QuotaFacts { all: quota.all, unreserved: quota.unreserved }),
        released_until: fact(jobs.released_until(world.ports.marks.as_ref()).await, "dynamodb:GetItem"),
        dead_events: fact(jobs.dead_events().await, "sqs:GetQueueAttributes"),
        alarms: environment.and_then(|all| match all.get(ALARMS)?.as_str() {
            "mail" => Some(AlarmsGoTo::Mail),
            "nobody" => Some(AlarmsGoTo::Nobody),
            _ => Some(AlarmsGoTo::NoAlarms),
        }),
        functions: smoke_tests(&functions, deployed).await,
    });
    Ok(facts)
}

/// Runs the smoke test of each deployed function, one at a time, to need few concurrent executions.
async fn smoke_tests(functions: &Functions, deployed: Vec<Fact<DeployedFunction>>) -> Vec<FunctionFacts> {
    let mut all = Vec::new();
    for (name, deployed) in FUNCTIONS.into_iter().zip(deployed) {
        // A function that the caller may not read may still answer.
        let is_there = !matches!(deployed, Err(MissingFact::Failed(_)));
        let mut answer = None;
        if is_there {
            let answered = fact(functions.smoke_test(name).await, "lambda:InvokeFunction");
            answer = Some(
                answered.map(|said| SmokeReport { version: said.version, rejects_settings: said.settings_rejected }),
            );
        }
        let deployed = deployed.map(|found| Deployment { fault: found.fault, reserved: found.reserved });
        all.push(FunctionFacts { name: name.to_owned(), deployed, answer });
    }
    all
}

/// Reads the stack's settings on top of the environment of its functions, as the functions do.
async fn settings(
    blobs: &dyn Blobs,
    environment: Option<&BTreeMap<String, String>>,
) -> Fact<Result<StatedSettings, String>> {
    let text = match stack_settings(blobs).await {
        // The object is not text.
        Err(error @ PortError::Corrupt { .. }) => return Ok(Err(error.to_string())),
        text => fact(text, "s3:GetObject")?.0,
    };
    let variables = environment.into_iter().flatten().map(|(name, value)| (name.clone(), value.clone()));
    let base = Config::load(&Flags::default(), variables);
    let config = base.and_then(|base| base.over_text(STACK_SETTINGS, &text));
    let config = config.and_then(|config| config.check_for_stack().map(|()| config));
    let has_model = fact(has_model(blobs).await, "s3:GetObject")?;
    Ok(match config {
        Err(wrong) => Err(with_causes(&wrong)),
        Ok(config) => {
            let pictures = match &config.image {
                ImageScreening::Off => ImageScreening::Off,
                _ if has_model && config.image_in_place_of_model().is_none() => {
                    ImageScreening::Installed(STACK_MODEL.into())
                }
                _ => ImageScreening::Skin,
            };
            let stated = StatedSettings { pictures: Some(pictures), ..stated(&config) };
            let is_known = environment.is_some() || config.contact.is_some();
            let unknown =
                || MissingFact::Failed("the environment of dispatch, which contains it, cannot be read".to_owned());
            Ok(StatedSettings { contact: if is_known { stated.contact } else { Err(unknown()) }, ..stated })
        }
    })
}

async fn mappings(
    connection: &Connection,
    stack: &str,
    environment: Option<&BTreeMap<String, String>>,
) -> Fact<Vec<(QueueName, Fact<MappingFacts>)>> {
    let failed = |why: &str| MissingFact::Failed(why.to_owned());
    let environment =
        environment.ok_or_else(|| failed("the environment of dispatch, which names them, cannot be read"))?;
    let named = environment.get(MAPPINGS).and_then(|text| mapping_ids(text)).filter(|ids| !ids.is_empty());
    let ids = named.ok_or_else(|| failed("the environment of dispatch names none"))?;
    let mappings = Mappings::new(connection, stack);
    let read = async |(stage, id): (QueueName, String)| {
        let mapping = fact(mappings.read(&id).await, "lambda:GetEventSourceMapping");
        let facts = |found: curlew_aws::Mapping| MappingFacts {
            id,
            state: found.state,
            max_concurrency: found.max_concurrency,
        };
        (stage, mapping.map(facts))
    };
    Ok(join_all(ids.into_iter().map(read)).await)
}

/// Tests the rights to scan each table and to get a single row, which the commands need.
async fn tables(world: &World, store: &Store) -> Vec<Fact<()>> {
    let ports = &world.ports;
    let (scan, get) = ("dynamodb:Scan", "dynamodb:GetItem");
    let mut trials = vec![
        fact(ports.hosts.list(None, 1).await.map(drop), scan),
        fact(ports.pages.list(None, 1).await.map(drop), scan),
        fact(ports.sources.list(None, 1).await.map(drop), scan),
        fact(store.jobs().try_parked().await, scan),
    ];
    if let (Ok(page), Ok(source)) = (PageId::new(NOBODY), SourceKey::new(NOBODY)) {
        trials.push(fact(ports.pages.get(&page).await.map(drop), get));
        trials.push(fact(ports.sources.get(&source).await.map(drop), get));
    }
    trials
}
