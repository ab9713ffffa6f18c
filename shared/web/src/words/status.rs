use crate::language::Language;

/// The status page.
#[derive(Debug)]
pub(crate) struct Status {
    pub(crate) title: &'static str,
    pub(crate) nothing_yet: &'static str,
    pub(crate) what: &'static str,
    pub(crate) value: &'static str,
    /// Around a link.
    pub(crate) the_same: &'static str,
    pub(crate) for_programs: &'static str,
}

impl Status {
    pub(crate) const fn of(language: Language) -> &'static Status {
        language.choose(&ENGLISH, &ITALIAN)
    }
}

const ENGLISH: Status = Status {
    title: "Status",
    nothing_yet: "Nothing has been done yet.",
    what: "What",
    value: "Value",
    the_same: "The same",
    for_programs: "for programs",
};

const ITALIAN: Status = Status {
    title: "Stato",
    nothing_yet: "Non è ancora stato fatto nulla.",
    what: "Che cosa",
    value: "Valore",
    the_same: "Lo stesso",
    for_programs: "per i programmi",
};
