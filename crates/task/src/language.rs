//! Which language a task seems to be in, for telling that only English is read.

use std::ops::Range;

use crate::literals::{Kind, Literal};
use crate::vocabulary;

/// Small words and common instructions of languages that are written in Latin letters, those that English has too among them.
const FOREIGN: [(&str, &str); 9] = [
    (
        "German",
        "ich du er sie es wir und oder auch der die das den dem des ein eine einen einem nicht ist sind hat \
         kann will mit von vom nach im in am an auf aus bei zu zum zur f\u{fc}r \u{fc}ber bis dann danach \
         bitte so mir mein meine meinen alle wie was wer wo wann wieviel viel kostet addiere berechne \
         bestelle buche erstelle finde gib hole kopiere lies l\u{f6}sche mache mach nenne \u{f6}ffne rechne \
         schicke schreib schreibe sende speichere starte suche zeig zeige",
    ),
    (
        "French",
        "je tu il elle nous vous le la les un une des du de et ou est sont ne pas pour dans avec moi mon ma \
         mes au aux \u{e0} en sur par vers ce que qui quel quelle quels combien comment o\u{f9} puis ensuite \
         fait affiche ajoute calcule cherche copie cr\u{e9}e donne \u{e9}cris enregistre envoie lis montre \
         ouvre supprime trouve",
    ),
    (
        "Spanish",
        "el la los las un una unos y o es est\u{e1} en de del al a con por para no se su mi mis me qu\u{e9} \
         que cu\u{e1}l cu\u{e1}nto c\u{f3}mo d\u{f3}nde luego despu\u{e9}s hace a\u{f1}ade borra busca \
         calcula copia crea dame elimina env\u{ed}a escribe guarda lee muestra mu\u{e9}strame suma",
    ),
    (
        "Portuguese",
        "o a os as um uma e ou de do da dos das em no na ao com por para n\u{e3}o se meu minha que qual \
         quanto como onde depois est\u{e1} apague busque calcule calcula crie envie escreva leia mostra \
         mostre salve",
    ),
    (
        "Italian",
        "il lo la i gli le un una e di da del della dal in nel nella a al alla con per su non mio mia mi che \
         qual quale quanto dove poi aggiungi apri calcola cancella cerca copia crea dammi elenca elimina \
         invia leggi manda mostra mostrami salva scrivi somma trova",
    ),
    (
        "Dutch",
        "de het een en of van voor met naar op in uit bij aan te is niet ik je mijn we dan wat hoe waar alle \
         bereken lees maak schrijf stuur toon verwijder zoek",
    ),
    (
        "Danish or Norwegian",
        "og eller p\u{e5} til fra for med i er et en den det som ikke hvad hva hvor hent les l\u{e6}s skriv \
         slet slett vis",
    ),
    (
        "Swedish",
        "och eller p\u{e5} till fr\u{e5}n f\u{f6}r med i \u{e4}r ett en den det som inte vad hur h\u{e4}mta \
         l\u{e4}s skriv visa",
    ),
    (
        "Polish",
        "i w na do z nie jest dla si\u{119} jaka jaki jak napisz oblicz odczytaj poka\u{17c} usu\u{144} \
         wy\u{15b}lij",
    ),
];

/// Small words of English that other languages have too, so that they do not tell it.
const SHARED: &[&str] = &[
    "a", "am", "an", "as", "do", "has", "i", "in", "is", "me", "no", "non", "on", "or", "so", "via", "was",
    "we", "will",
];

/// Instructions that no tool need begin with, for telling English; `vocabulary` has those with a meaning here.
const FURTHER_INSTRUCTIONS: &str = "abort accept acknowledge activate adjust alert align allocate allow alter announce answer arrange \
     arrive authorize average back backup ban begin bill bind boil bring broadcast browse bump capture \
     carry cast chain charge chart choose cite classify click clone combine commit compile complete \
     compose compress concatenate configure confirm connect consider continue control correct crawl \
     credit crop cross cube dance debit debug decide declare decline decrease decrypt define delay \
     deliver demote deny derive design detach detect determine dial dim disconnect dismiss dispatch \
     distribute double draft drain drive dump duplicate edit eject encrypt end enroll enter escalate \
     examine exchange exclude exit expand explain explore express extend feed file finish fire flag flip \
     flush fly focus follow forecast forget forgive fork forward free freeze gather go grab graph greet \
     guess halt handle hash heat help highlight hire hold identify ignore improve include increase index \
     inform initialize invert investigate issue kill label launch learn leave lend let lift light limit \
     link listen locate log login lower manage map match migrate minimize mirror mix modify monitor mute \
     name navigate need negate normalize note notice obtain offer optimize organize outline output pack \
     paint park paste pause perform permit pin ping place point poll populate predict prepare prescribe \
     press preview process produce profile promote propose prove provide provision pull punch push query \
     quit quote raise rank rate rebase reboot rebuild recall receive recommend recover redeploy redirect \
     redo reduce refactor reformat refresh refuel refund reject release reload remember renew rent reopen \
     reorder repair rephrase request rerun research resize respond resume retrieve retry reverse rewrite \
     ring roll rotate sample scale scan score scrape see seed sell separate serve shift shorten shout \
     shrink shuffle shut simulate skip sleep slice snapshot snooze speak spell square stage step stream \
     strip study style subscribe suggest supply support suspend swap sync synchronize terminate text \
     think throw time toggle top total trace track trade transcribe transform transpose trigger trim try \
     tweet type unarchive unassign unblock understand uninstall unpack unpin unsubscribe unzip upgrade \
     upsert view void vote wait wake walk want warn wash water weigh withdraw work wrap zip zoom";

/// What is known of English beside the lists here, by the tools; of words in small letters.
pub(crate) struct English<'a> {
    /// Whether an instruction may begin with the word.
    pub(crate) is_verb: &'a dyn Fn(&str) -> bool,
    /// Whether the tools have it, in names and descriptions.
    pub(crate) is_known: &'a dyn Fn(&str) -> bool,
}

// === impl English ===

impl English<'_> {
    /// Whether a sentence may begin with the word.
    fn begins(&self, word: &str) -> bool {
        (self.is_verb)(word) || vocabulary::is_question(word) || has(FURTHER_INSTRUCTIONS, word)
    }
}

/// What the text is in, if it does not seem to be English.
pub(crate) fn foreign(text: &str, literals: &[Literal], english: &English<'_>) -> Option<&'static str> {
    let letters = text.chars().filter(|c| c.is_alphabetic());
    let (latin, other) = letters.fold((0, 0), |(latin, other), c| match c {
        c if c.is_ascii() || ('\u{c0}'..='\u{24f}').contains(&c) => (latin + 1, other),
        _ => (latin, other + 1),
    });
    if other > latin {
        return Some("a language that is not written in Latin letters");
    }
    // Names may have such words inside: "La Paz".
    let words = plain_words(text, 0..text.len(), literals);
    let count = |is_it: &dyn Fn(&str) -> bool| words.iter().filter(|word| is_it(word)).count();
    let counted = FOREIGN.map(|(language, own)| (language, own, count(&|word| has(own, word))));
    let (language, own, foreign) = counted.into_iter().rev().max_by_key(|(_, _, count)| *count)?;
    let is_english = |word: &str| is_small(word) || english.begins(word);
    let is_either = |word: &str| is_english(word) || !has(own, word) && (english.is_known)(word);
    // The tools' words are made only where they are needed.
    (foreign > count(&is_english) && foreign > count(&is_either)).then_some(language)
}

/// Whether nothing shows that the step at `span` is in English: no sentence begins with its first word that says something,
/// no tool has that word, and no small word of English alone stands in the step.
pub(crate) fn is_unknown(
    text: &str,
    span: &Range<usize>,
    literals: &[Literal],
    english: &English<'_>,
) -> bool {
    let words = plain_words(text, span.clone(), literals);
    // Single letters are names of values, or what an apostrophe leaves of a word.
    let says = |word: &&String| word.chars().count() > 1 && !is_small(word);
    let first = words.iter().find(says).cloned();
    // Two capitals at the beginning look like a name: "Lies Datei".
    let name = literals
        .iter()
        .find(|literal| literal.kind == Kind::Name && literal.span.start == span.start);
    let named = || Some(catalog::words(name?.text()?).next()?.to_lowercase());
    let is_told = words
        .iter()
        .any(|word| is_small(word) && !SHARED.contains(&word.as_str()));
    let is_strange = |word: String| !is_small(&word) && !english.begins(&word) && !(english.is_known)(&word);
    !is_told && first.or_else(named).is_some_and(is_strange)
}

/// Whether the list, with spaces between its words, has the word.
fn has(list: &str, word: &str) -> bool {
    list.split(' ').any(|own| own == word)
}

fn is_small(word: &str) -> bool {
    vocabulary::is_small(word)
        || vocabulary::is_preposition(word)
        || vocabulary::is_condition(word)
        || vocabulary::is_courtesy(word)
        || vocabulary::is_determiner(word)
        || vocabulary::is_negation(word)
        || vocabulary::is_referring(word)
        || vocabulary::is_relative_time(word)
        || vocabulary::is_telling(word)
}

/// The words of the text within `span` that are no literals, in small letters, cut at hyphens and apostrophes.
fn plain_words(text: &str, span: Range<usize>, literals: &[Literal]) -> Vec<String> {
    let start = |word: &str| word.as_ptr() as usize - text.as_ptr() as usize;
    let is_literal = |word: &&str| literals.iter().any(|literal| literal.span.contains(&start(word)));
    let words = text[span]
        .split(|c: char| !c.is_alphabetic())
        .filter(|word| !word.is_empty());
    words
        .filter(|word| !is_literal(word))
        .map(str::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::literals::literals;

    #[test]
    fn languages_are_told_apart() {
        let check = |text: &str, expected: Option<&str>| {
            let english = English {
                is_verb: &vocabulary::is_imperative,
                is_known: &|word| word == "weather",
            };
            let found = foreign(text, &literals(text, english.is_verb), &english);
            assert_eq!(found, expected, "{text}");
        };
        check("Update my calendar", None);
        check("Fly to Los Angeles", None);
        check("Do it now", None);
        check("Book Die Hard", None);
        check("I met Ann in the van", None);
        check("Print \"la vie est belle\"", None);
        check("Get the weather in La Paz, Los Angeles and Le Mans", None);
        check("Lies die Datei /home/a.txt", Some("German"));
        check("Calculate the sum of 5 and 3, then save it", None);
        check("Rechne bitte 5 und 3 zusammen", Some("German"));
        check("Calcule la somme et envoie le r\u{e9}sultat", Some("French"));
        check("Schreibe hallo nach x.txt", Some("German"));
        check("Zeige das Wetter in Berlin", Some("German"));
        check("Was kostet das Wetter in Berlin?", Some("German"));
        check("Quel temps fait-il \u{e0} Paris ?", Some("French"));
        check("Mu\u{e9}strame el clima en Madrid", Some("Spanish"));
        check("Vis vejret i Oslo", Some("Danish or Norwegian"));
        check("weather in la paz", None);
        check("Was it in the van?", None);
        check("Translate guten tag der herr to English", None);
        check(
            "\u{8ba1}\u{7b97} 5 + 3",
            Some("a language that is not written in Latin letters"),
        );
    }
}
