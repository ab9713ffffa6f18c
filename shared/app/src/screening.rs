//! Settings of content screening, as in the file, and the folder of additional word lists.

use crate::settings::BadSettings;
use curlew_screen::{Allowed, List, MAX_LIST_BYTES, MAX_PERSONS_BYTES, Person, Screener, Settings, Topic, TopicRule};
use serde::Deserialize;
use std::fmt::Display;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Folder of the image model, in the data folder.
pub const MODEL_FOLDER: &str = "model";
const MODEL_CARD: &str = "card.toml";
/// Maximum number of files in the folder of word lists.
const MAX_LISTS: usize = 200;

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Screen {
    adult: Option<TopicRule>,
    violence: Option<TopicRule>,
    hate: Option<TopicRule>,
    self_harm: Option<TopicRule>,
    gambling: Option<TopicRule>,
    scams: Option<TopicRule>,
    drugs: Option<TopicRule>,
    lists: Option<PathBuf>,
    persons: Option<Persons>,
    allow: Vec<String>,
    image: Looks,
    model: Option<PathBuf>,
}

/// Persons whose pages are rejected, as in the settings.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged, expecting = "persons are a file, or a list of { name = \"…\", aliases = [\"…\"] }")]
enum Persons {
    Listed(Vec<Person>),
    /// Path of a file in the format of [`Person::read_list`].
    File(PathBuf),
}

impl Persons {
    fn read(&self) -> Result<Vec<Person>, BadSettings> {
        match self {
            Persons::Listed(persons) => Ok(persons.clone()),
            Persons::File(path) => {
                let text = read_text(path, MAX_PERSONS_BYTES).map_err(|why| unreadable("persons", path, &why))?;
                Person::read_list(&text).map_err(|why| unreadable("persons", path, &why))
            }
        }
    }
}

/// Choice of the image classifier, as in the settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Looks {
    /// The model in the data folder if there is one, or else [`Looks::Skin`].
    #[default]
    Auto,
    Off,
    Skin,
    Onnx,
}

/// Choice of the image classifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImageScreening {
    /// No classifier: pages are judged by their words only.
    Off,
    /// The built-in classifier by regions of skin.
    Skin,
    /// The model in the data folder, with the path of its card; the driver loads it ([`crate::Settings::with_eye`]).
    Installed(PathBuf),
    /// The ONNX model with this card; the driver loads it ([`crate::Settings::with_eye`]).
    Onnx(PathBuf),
}

impl Screen {
    /// Returns the configured image classifier; `data` is the data folder, which may contain a model.
    pub(crate) fn image(&self, data: &Path) -> Result<ImageScreening, BadSettings> {
        let installed = data.join(MODEL_FOLDER).join(MODEL_CARD);
        Ok(match (self.image, &self.model) {
            (Looks::Onnx, Some(card)) => ImageScreening::Onnx(card.clone()),
            (Looks::Onnx, None) => return bad("image = \"onnx\" needs model, a model card"),
            (_, Some(_)) => return bad("model is for image = \"onnx\""),
            (Looks::Auto, None) if installed.is_file() => ImageScreening::Installed(installed),
            (Looks::Auto | Looks::Skin, None) => ImageScreening::Skin,
            (Looks::Off, None) => ImageScreening::Off,
        })
    }

    /// Returns the configured screener, or `None` for the built-in one. Reads files, so it is called once.
    pub(crate) fn screener(&self) -> Result<Option<Arc<Screener>>, BadSettings> {
        if (Screen { image: Looks::default(), model: None, ..self.clone() }) == Screen::default() {
            return Ok(None);
        }
        let allow = self.allow.iter().map(|a| a.parse::<Allowed>()).collect::<Result<_, _>>().or_else(bad)?;
        let topics = [
            (Topic::Adult, self.adult),
            (Topic::Violence, self.violence),
            (Topic::Hate, self.hate),
            (Topic::SelfHarm, self.self_harm),
            (Topic::Gambling, self.gambling),
            (Topic::Scams, self.scams),
            (Topic::Drugs, self.drugs),
        ];
        let topics = topics.into_iter().filter_map(|(topic, rule)| Some((topic, rule?))).collect();
        let persons = self.persons.as_ref().map_or_else(|| Ok(Vec::new()), Persons::read)?;
        let settings = Settings { topics, persons, allow };
        let lists = self.lists.as_deref().map_or_else(|| Ok(Vec::new()), read_lists)?;
        Ok(Some(Arc::new(Screener::new(settings, &lists).or_else(bad)?)))
    }
}

fn bad<T>(why: impl Display) -> Result<T, BadSettings> {
    Err(BadSettings(format!("[screen]: {why}")))
}

/// Reads all `.txt` files of the folder, sorted by name.
fn read_lists(folder: &Path) -> Result<Vec<List>, BadSettings> {
    let bad = |path: &Path, why: &dyn Display| unreadable("lists", path, why);
    let entries = std::fs::read_dir(folder).and_then(|all| all.map(|e| e.map(|e| e.path())).collect());
    let mut paths: Vec<PathBuf> = entries.map_err(|e| bad(folder, &e))?;
    paths.retain(|p| p.extension().is_some_and(|e| e == "txt"));
    paths.sort();
    if paths.len() > MAX_LISTS {
        return Err(bad(folder, &format!("more than {MAX_LISTS} files")));
    }
    let read = |path: PathBuf| {
        let text = read_text(&path, MAX_LIST_BYTES).map_err(|e| bad(&path, &e))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(List { name, text })
    };
    paths.into_iter().map(read).collect()
}

/// Reads a file up to one byte over the limit, so that the parser can report that the file is too long.
fn read_text(path: &Path, limit: usize) -> std::io::Result<String> {
    let mut text = String::new();
    std::fs::File::open(path)?.take(limit as u64 + 1).read_to_string(&mut text)?;
    Ok(text)
}

fn unreadable(setting: &str, path: &Path, why: &dyn Display) -> BadSettings {
    BadSettings(format!("[screen] {setting}: {} cannot be read: {why}", path.display()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::ImageScreening;
    use crate::settings::{Flags, Settings};
    use curlew_screen::{Page, Screener, Screening};

    fn load(environment: &[(&str, &str)]) -> Settings {
        let variables = environment.iter().map(|(key, value)| (format!("CURLEW_SCREEN_{key}"), (*value).to_owned()));
        Settings::load(&Flags::default(), variables).unwrap()
    }

    fn screened(table: &str, page: &Page<'_>) -> Result<Screening, String> {
        let dir = tempfile::tempdir().unwrap();
        let lists = dir.path().join("lists");
        std::fs::create_dir(&lists).unwrap();
        std::fs::write(lists.join("adult.en.txt"), "frob\t10\nnicate\t10\nwobble\t10\ngrumble\t10\n").unwrap();
        std::fs::write(lists.join("short.md"), "Zoe Alvarez\nAl").unwrap();
        let persons = dir.path().join("persons.txt");
        std::fs::write(&persons, "# Left out\nX Y Z; ZOE ALVAREZ\n").unwrap();
        let table = table.replace("LISTS", lists.to_str().unwrap()).replace("PERSONS", persons.to_str().unwrap());
        let settings = load(&[]).over_text("curlew.toml", &table).map_err(|e| e.to_string())?;
        Ok(settings.screener.as_deref().unwrap_or_else(|| Screener::standard()).screen(page))
    }

    #[test]
    fn a_table_says_what_is_screened() {
        let page = Page { title: "Frob", text: "Frob, nicate, wobble, grumble. Zoe Alvarez sang.", ..Page::default() };
        let rejected = |table: &str| screened(table, &page).unwrap().rejected_for();
        assert!(rejected("").is_empty());
        assert_eq!(rejected("[screen]\nlists = \"LISTS\""), ["adult"]);
        assert!(rejected("[screen]\nlists = \"LISTS\"\nadult = \"off\"").is_empty());
        assert!(rejected("[screen]\nlists = \"LISTS\"\nadult = 0.99\nself-harm = 0.4").is_empty());
        assert_eq!(rejected("[screen]\npersons = [{ name = \"X Y Z\", aliases = [\"Zoe Alvarez\"] }]"), ["person"]);
        assert_eq!(rejected("[screen]\npersons = \"PERSONS\""), ["person"]);
        let host = Page { host: Some("www.a.example"), ..page };
        let allowed = screened("[screen]\nlists = \"LISTS\"\nallow = [\"a.example\"]", &host).unwrap();
        assert!(allowed.rejected_for().is_empty());
    }

    #[test]
    fn images_are_looked_at_unless_that_is_switched_off() {
        for (stated, eye) in
            [(&[("IMAGE", "off")][..], None), (&[("IMAGE", "skin")], Some("skin regions")), (&[], Some("skin regions"))]
        {
            let settings = load(stated);
            assert!(settings.screener.is_none(), "the lists are those that are compiled in");
            assert_eq!(settings.judge.eye(), eye, "{stated:?}");
        }
    }

    #[test]
    fn a_model_in_the_data_folder_is_used_unless_something_else_is_stated() {
        let data = tempfile::tempdir().unwrap();
        let flags = Flags { data: Some(data.path().to_owned()), ..Flags::default() };
        let usual = Settings::load(&flags, std::iter::empty()).unwrap();
        let with = |text: &str| usual.over_text("curlew.toml", text).unwrap();
        assert_eq!(usual.image, ImageScreening::Skin);
        let card = data.path().join("model/card.toml");
        std::fs::create_dir(data.path().join("model")).unwrap();
        std::fs::write(&card, "").unwrap();
        assert_eq!(with("").image, ImageScreening::Installed(card));
        assert!(with("").check_for_stack().is_ok(), "a model of this machine is no setting of a stack");
        assert_eq!(with("[screen]\nimage = \"skin\"").image, ImageScreening::Skin);
        assert_eq!(with("[screen]\nimage = \"off\"").image, ImageScreening::Off);
    }

    #[test]
    fn a_file_of_persons_is_no_setting_of_a_stack() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("persons.txt");
        std::fs::write(&path, "Zoe Alvarez\n").unwrap();
        let checked = |persons: &str| load(&[("PERSONS", persons)]).check_for_stack();
        assert!(checked("[{ name = \"Zoe Alvarez\" }]").is_ok());
        let refused = checked(&format!("{:?}", path.display().to_string())).unwrap_err().to_string();
        assert!(refused.contains("names a file, which is for one machine"), "{refused}");
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (table, says) in [
            ("[screen]\nadult = 7", "from 0 to 1"),
            ("[screen]\ncats = \"on\"", "cats"),
            ("[screen]\nimage = \"on\"", "unknown variant `on`"),
            ("[screen]\nimage = \"onnx\"", "needs model"),
            ("[screen]\nmodel = \"card.toml\"", "is for image"),
            ("[screen]\nallow = [\"a b\"]", "names no host"),
            ("[screen]\npersons = [{ name = \"Al\" }]", "too short"),
            ("[screen]\npersons = [\"Zoe Alvarez\"]", "persons are a file, or a list"),
            ("[screen]\npersons = \"LISTS/short.md\"", "the name 'Al' is too short"),
            ("[screen]\npersons = \"/nowhere/at/all\"", "[screen] persons: /nowhere/at/all cannot be read"),
            ("[screen]\nlists = \"/nowhere/at/all\"", "cannot be read"),
        ] {
            let error = screened(table, &Page::default()).unwrap_err();
            assert!(error.contains(says) && !error.contains('\n'), "{table}: {error}");
        }
    }
}
