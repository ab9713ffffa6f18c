//! Encodings that an XML declaration may name and that the Encoding Standard leaves out, so that browsers and
//! encoding_rs do not know them: code pages of DOS and of old Macs, of Tajik and Vietnamese, and EBCDIC.

use encoding_rs::Encoding;

/// A single-byte encoding.
pub(super) struct CodePage {
    /// Names in lower case, with `-` for `_`.
    labels: &'static [&'static str],
    /// Characters of the bytes below 0x20, if they are not those of ASCII.
    low: &'static str,
    /// Characters of the bytes from 0x80 on; U+FFFD for those that have none.
    high: &'static str,
}

impl CodePage {
    /// Returns the code page of that name.
    pub(super) fn of(label: &str) -> Option<&'static CodePage> {
        let label = normal(label);
        CODE_PAGES.iter().find(|page| page.labels.contains(&label.as_str()))
    }

    /// Decodes a document.
    pub(super) fn decode(&self, body: &[u8]) -> String {
        let mut chars: Vec<char> = (0..0x80).map(char::from).collect();
        for (place, c) in chars.iter_mut().zip(self.low.chars()) {
            *place = c;
        }
        chars.extend(self.high.chars());
        body.iter().map(|byte| chars.get(usize::from(*byte)).copied().unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    }
}

/// Returns an encoding of the standard by a name that only others use for it, such as `ms-cyrl` or `windows_1251`.
pub(super) fn by_other_name(label: &str) -> Option<&'static Encoding> {
    let label = normal(label);
    let name = match label.as_str() {
        "maccyrillic" | "mac-cyrillic" => "x-mac-cyrillic",
        "macroman" | "mac-roman" => "macintosh",
        "ms-ee" => "windows-1250",
        "ms-cyrl" => "windows-1251",
        "ms-ansi" => "windows-1252",
        "ms-greek" => "windows-1253",
        "ms-turk" => "windows-1254",
        "ms-hebr" => "windows-1255",
        "ms-arab" => "windows-1256",
        "winbaltrim" => "windows-1257",
        other => other,
    };
    Encoding::for_label_no_replacement(name.as_bytes())
}

fn normal(label: &str) -> String {
    label.chars().take(MAX_LABEL).map(|c| if c == '_' { '-' } else { c.to_ascii_lowercase() }).collect()
}

/// Number of characters that are read of a label; the longest known one has 22.
const MAX_LABEL: usize = 24;

/// Decodes a document in EBCDIC, recognized by its `<?xml` (XML, appendix F.1). `label` finds the declared name in the
/// beginning of a text; of the many variants those are known whose letters are those of code page 37.
pub(super) fn decode_ebcdic(body: &[u8], label: impl Fn(&[u8]) -> Option<&str>) -> Option<String> {
    if !body.starts_with(&[0x4C, 0x6F, 0xA7, 0x94, 0x93]) {
        return None;
    }
    let translate = |byte: &u8| EBCDIC.get(usize::from(*byte)).copied().unwrap_or_default();
    let head: Vec<u8> = body.iter().take(super::DECLARATION_BYTES).map(translate).collect();
    let differences = match label(&head).map(normal).as_deref() {
        Some("500" | "cp500" | "ibm500" | "csibm500" | "ebcdic-cp-be" | "ebcdic-cp-ch") => &CODE_PAGE_500[..],
        Some("1140" | "cp1140" | "ibm1140" | "ibm01140") => &CODE_PAGE_1140[..],
        _ => &[],
    };
    let different = |byte: &u8| differences.iter().find(|(other, _)| other == byte).map(|(_, c)| *c);
    Some(body.iter().map(|byte| different(byte).unwrap_or_else(|| char::from(translate(byte)))).collect())
}

/// Latin-1 characters of the bytes of EBCDIC's code page 37.
#[rustfmt::skip]
const EBCDIC: [u8; 256] = [
    0x00, 0x01, 0x02, 0x03, 0x9C, 0x09, 0x86, 0x7F, 0x97, 0x8D, 0x8E, 0x0B, 0x0C, 0x0D, 0x0E, 0x0F,
    0x10, 0x11, 0x12, 0x13, 0x9D, 0x85, 0x08, 0x87, 0x18, 0x19, 0x92, 0x8F, 0x1C, 0x1D, 0x1E, 0x1F,
    0x80, 0x81, 0x82, 0x83, 0x84, 0x0A, 0x17, 0x1B, 0x88, 0x89, 0x8A, 0x8B, 0x8C, 0x05, 0x06, 0x07,
    0x90, 0x91, 0x16, 0x93, 0x94, 0x95, 0x96, 0x04, 0x98, 0x99, 0x9A, 0x9B, 0x14, 0x15, 0x9E, 0x1A,
    0x20, 0xA0, 0xE2, 0xE4, 0xE0, 0xE1, 0xE3, 0xE5, 0xE7, 0xF1, 0xA2, 0x2E, 0x3C, 0x28, 0x2B, 0x7C,
    0x26, 0xE9, 0xEA, 0xEB, 0xE8, 0xED, 0xEE, 0xEF, 0xEC, 0xDF, 0x21, 0x24, 0x2A, 0x29, 0x3B, 0xAC,
    0x2D, 0x2F, 0xC2, 0xC4, 0xC0, 0xC1, 0xC3, 0xC5, 0xC7, 0xD1, 0xA6, 0x2C, 0x25, 0x5F, 0x3E, 0x3F,
    0xF8, 0xC9, 0xCA, 0xCB, 0xC8, 0xCD, 0xCE, 0xCF, 0xCC, 0x60, 0x3A, 0x23, 0x40, 0x27, 0x3D, 0x22,
    0xD8, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0xAB, 0xBB, 0xF0, 0xFD, 0xFE, 0xB1,
    0xB0, 0x6A, 0x6B, 0x6C, 0x6D, 0x6E, 0x6F, 0x70, 0x71, 0x72, 0xAA, 0xBA, 0xE6, 0xB8, 0xC6, 0xA4,
    0xB5, 0x7E, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7A, 0xA1, 0xBF, 0xD0, 0xDD, 0xDE, 0xAE,
    0x5E, 0xA3, 0xA5, 0xB7, 0xA9, 0xA7, 0xB6, 0xBC, 0xBD, 0xBE, 0x5B, 0x5D, 0xAF, 0xA8, 0xB4, 0xD7,
    0x7B, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0xAD, 0xF4, 0xF6, 0xF2, 0xF3, 0xF5,
    0x7D, 0x4A, 0x4B, 0x4C, 0x4D, 0x4E, 0x4F, 0x50, 0x51, 0x52, 0xB9, 0xFB, 0xFC, 0xF9, 0xFA, 0xFF,
    0x5C, 0xF7, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5A, 0xB2, 0xD4, 0xD6, 0xD2, 0xD3, 0xD5,
    0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0xB3, 0xDB, 0xDC, 0xD9, 0xDA, 0x9F,
];
/// Bytes that code page 500 reads differently.
const CODE_PAGE_500: [(u8, char); 7] =
    [(0x4A, '['), (0x4F, '!'), (0x5A, ']'), (0x5F, '^'), (0xB0, '\u{a2}'), (0xBA, '\u{ac}'), (0xBB, '|')];
/// The byte that code page 1140 reads differently.
const CODE_PAGE_1140: [(u8, char); 1] = [(0x9F, '\u{20ac}')];

const CODE_PAGES: [CodePage; 22] = [
    CodePage {
        labels: &["437", "cp437", "ibm437", "cspc8codepage437"],
        low: "",
        high: "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}",
    },
    CodePage {
        labels: &["737", "cp737", "ibm737"],
        low: "",
        high: "ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩαβγδεζηθικλμνξοπρσςτυφχψ░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀ωάέήϊίόύϋώΆΈΉΊΌΎΏ±≥≤ΪΫ÷≈°∙·√ⁿ²■\u{a0}",
    },
    CodePage {
        labels: &["775", "cp775", "ibm775", "cspc775baltic"],
        low: "",
        high: "ĆüéāäģåćłēŖŗīŹÄÅÉæÆōöĢ¢ŚśÖÜø£Ø×¤ĀĪóŻżź”¦©®¬½¼Ł«»░▒▓│┤ĄČĘĖ╣║╗╝ĮŠ┐└┴┬├─┼ŲŪ╚╔╩╦╠═╬Žąčęėįšųūž┘┌█▄▌▐▀ÓßŌŃõÕµńĶķĻļņĒŅ’\u{ad}±“¾¶§÷„°∙·¹³²■\u{a0}",
    },
    CodePage {
        labels: &["850", "cp850", "ibm850", "cspc850multilingual"],
        low: "",
        high: "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{ad}±‗¾¶§÷¸°¨·¹³²■\u{a0}",
    },
    CodePage {
        labels: &["852", "cp852", "ibm852", "cspcp852"],
        low: "",
        high: "ÇüéâäůćçłëŐőîŹÄĆÉĹĺôöĽľŚśÖÜŤťŁ×čáíóúĄąŽžĘę¬źČş«»░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐└┴┬├─┼Ăă╚╔╩╦╠═╬¤đĐĎËďŇÍÎě┘┌█▄ŢŮ▀ÓßÔŃńňŠšŔÚŕŰýÝţ´\u{ad}˝˛ˇ˘§÷¸°¨˙űŘř■\u{a0}",
    },
    CodePage {
        labels: &["855", "cp855", "ibm855", "csibm855"],
        low: "",
        high: "ђЂѓЃёЁєЄѕЅіІїЇјЈљЉњЊћЋќЌўЎџЏюЮъЪаАбБцЦдДеЕфФгГ«»░▒▓│┤хХиИ╣║╗╝йЙ┐└┴┬├─┼кК╚╔╩╦╠═╬¤лЛмМнНоОп┘┌█▄Пя▀ЯрРсСтТуУжЖвВьЬ№\u{ad}ыЫзЗшШэЭщЩчЧ§■\u{a0}",
    },
    CodePage {
        labels: &["857", "cp857", "ibm857", "csibm857"],
        low: "",
        high: "ÇüéâäàåçêëèïîıÄÅÉæÆôöòûùİÖÜø£ØŞşáíóúñÑĞğ¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ºªÊËÈ\u{fffd}ÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµ\u{fffd}×ÚÛÙìÿ¯´\u{ad}±\u{fffd}¾¶§÷¸°¨·¹³²■\u{a0}",
    },
    CodePage {
        labels: &["858", "cp858", "ibm858", "ibm00858"],
        low: "",
        high: "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈ€ÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{ad}±‗¾¶§÷¸°¨·¹³²■\u{a0}",
    },
    CodePage {
        labels: &["860", "cp860", "ibm860", "csibm860"],
        low: "",
        high: "ÇüéâãàÁçêÊèÍÔìÃÂÉÀÈôõòÚùÌÕÜ¢£Ù₧ÓáíóúñÑªº¿Ò¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}",
    },
    CodePage {
        labels: &["861", "cp861", "ibm861", "csibm861", "cp-is"],
        low: "",
        high: "ÇüéâäàåçêëèÐðÞÄÅÉæÆôöþûÝýÖÜø£Ø₧ƒáíóúÁÍÓÚ¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}",
    },
    CodePage {
        labels: &["862", "cp862", "ibm862", "cspc862latinhebrew"],
        low: "",
        high: "אבגדהוזחטיךכלםמןנסעףפץצקרשת¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}",
    },
    CodePage {
        labels: &["863", "cp863", "ibm863", "csibm863"],
        low: "",
        high: "ÇüéâÂà¶çêëèïî‗À§ÉÈÊôËÏûù¤ÔÜ¢£ÙÛƒ¦´óú¨¸³¯Î⌐¬½¼¾«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}",
    },
    CodePage {
        labels: &["865", "cp865", "ibm865", "csibm865"],
        low: "",
        high: "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø₧ƒáíóúñÑªº¿⌐¬½¼¡«¤░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}",
    },
    CodePage {
        labels: &["869", "cp869", "ibm869", "csibm869"],
        low: "",
        high: "\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}Ά\u{fffd}·¬¦‘’Έ―ΉΊΪΌ\u{fffd}\u{fffd}ΎΫ©Ώ²³ά£έήίϊΐόύΑΒΓΔΕΖΗ½ΘΙ«»░▒▓│┤ΚΛΜΝ╣║╗╝ΞΟ┐└┴┬├─┼ΠΡ╚╔╩╦╠═╬ΣΤΥΦΧΨΩαβγ┘┌█▄δε▀ζηθικλμνξοπρσςτ΄\u{ad}±υφχ§ψ΅°¨ωϋΰώ■\u{a0}",
    },
    CodePage {
        labels: &["1125", "cp1125", "ibm1125", "cp866u"],
        low: "",
        high: "АБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯабвгдежзийклмноп░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀рстуфхцчшщъыьэюяЁёҐґЄєІіЇї·√№¤■\u{a0}",
    },
    CodePage {
        labels: &["koi8-t"],
        low: "",
        high: "қғ‚Ғ„…†‡\u{fffd}‰ҳ‹ҲҷҶ\u{fffd}Қ‘’“”•–—\u{fffd}™\u{fffd}›\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}ӯӮё¤ӣ¦§\u{fffd}\u{fffd}\u{fffd}«¬\u{ad}®\u{fffd}°±²Ё\u{fffd}Ӣ¶·\u{fffd}№\u{fffd}»\u{fffd}\u{fffd}\u{fffd}©юабцдефгхийклмнопярстужвьызшэщчъЮАБЦДЕФГХИЙКЛМНОПЯРСТУЖВЬЫЗШЭЩЧЪ",
    },
    CodePage {
        labels: &["maclatin2", "mac-latin2", "maccentraleurope", "x-mac-ce"],
        low: "",
        high: "ÄĀāÉĄÖÜáąČäčĆćéŹźĎíďĒēĖóėôöõúĚěü†°Ę£§•¶ß®©™ę¨≠ģĮįĪ≤≥īĶ∂∑łĻļĽľĹĺŅņŃ¬√ńŇ∆«»…\u{a0}ňŐÕőŌ–—“”‘’÷◊ōŔŕŘ‹›řŖŗŠ‚„šŚśÁŤťÍŽžŪÓÔūŮÚůŰűŲųÝýķŻŁżĢˇ",
    },
    CodePage {
        labels: &["macgreek", "mac-greek", "x-mac-greek"],
        low: "",
        high: "Ä¹²É³ÖÜ΅àâä΄¨çéèêë£™îï•½‰ôö¦€ùûü†ΓΔΘΛΞΠß®©ΣΪ§≠°·Α±≤≥¥ΒΕΖΗΙΚΜΦΫΨΩάΝ¬ΟΡ≈Τ«»…\u{a0}ΥΧΆΈœ–―“”‘’÷ΉΊΌΎέήίόΏύαβψδεφγηιξκλμνοπώρστθωςχυζϊϋΐΰ\u{ad}",
    },
    CodePage {
        labels: &["maciceland", "mac-iceland", "x-mac-icelandic"],
        low: "",
        high: "ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûüÝ°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø¿¡¬√ƒ≈∆«»…\u{a0}ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄€ÐðÞþý·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\u{f8ff}ÒÚÛÙıˆ˜¯˘˙˚¸˝˛ˇ",
    },
    CodePage {
        labels: &["macturkish", "mac-turkish", "x-mac-turkish"],
        low: "",
        high: "ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø¿¡¬√ƒ≈∆«»…\u{a0}ÀÃÕŒœ–—“”‘’÷◊ÿŸĞğİıŞş‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\u{f8ff}ÒÚÛÙ\u{f8a0}ˆ˜¯˘˙˚¸˝˛ˇ",
    },
    CodePage {
        labels: &["viscii", "csviscii"],
        low: "\0\u{1}Ẳ\u{3}\u{4}ẴẪ\u{7}\u{8}\t\n\u{b}\u{c}\r\u{e}\u{f}\u{10}\u{11}\u{12}\u{13}Ỷ\u{15}\u{16}\u{17}\u{18}Ỹ\u{1a}\u{1b}\u{1c}\u{1d}Ỵ\u{1f}",
        high: "ẠẮẰẶẤẦẨẬẼẸẾỀỂỄỆỐỒỔỖỘỢỚỜỞỊỎỌỈỦŨỤỲÕắằặấầẩậẽẹếềểễệốồổỗỠƠộờởịỰỨỪỬơớƯÀÁÂÃẢĂẳẵÈÉÊẺÌÍĨỳĐứÒÓÔạỷừửÙÚỹỵÝỡưàáâãảăữẫèéêẻìíĩỉđựòóôõỏọụùúũủýợỮ",
    },
    CodePage {
        labels: &["tcvn", "tcvn-5712", "tcvn5712-1"],
        low: "\0ÚỤ\u{3}ỪỬỮ\u{7}\u{8}\t\n\u{b}\u{c}\r\u{e}\u{f}\u{10}ỨỰỲỶỸÝỴ\u{18}\u{19}\u{1a}\u{1b}\u{1c}\u{1d}\u{1e}\u{1f}",
        high: "ÀẢÃÁẠẶẬÈẺẼÉẸỆÌỈĨÍỊÒỎÕÓỌỘỜỞỠỚỢÙỦŨ\u{a0}ĂÂÊÔƠƯĐăâêôơưđẰ\u{300}\u{309}\u{303}\u{301}\u{323}àảãáạẲằẳẵắẴẮẦẨẪẤỀặầẩẫấậèỂẻẽéẹềểễếệìỉỄẾỒĩíịòỔỏõóọồổỗốộờởỡớợùỖủũúụừửữứựỳỷỹýỵỐ",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_page_has_a_character_for_each_byte_and_names_of_its_own() {
        let mut labels = Vec::new();
        for page in &CODE_PAGES {
            assert_eq!(page.high.chars().count(), 0x80, "{:?}", page.labels);
            assert!([0, 0x20].contains(&page.low.chars().count()), "{:?}", page.labels);
            assert_eq!(
                page.decode(b"<?xml version=\"1.0\"?>\t\r\n"),
                "<?xml version=\"1.0\"?>\t\r\n",
                "{:?}",
                page.labels
            );
            for label in page.labels {
                assert!(Encoding::for_label(label.as_bytes()).is_none(), "the standard knows {label}");
                assert!(label.len() <= MAX_LABEL && normal(label) == *label && !labels.contains(label), "{label}");
                labels.push(*label);
            }
        }
    }

    #[test]
    fn letters_are_those_of_the_code_page() {
        let read = |label: &str, body: &[u8]| CodePage::of(label).map(|page| page.decode(body)).unwrap_or_default();
        assert_eq!(read("CP437", b"na\x8Bve caf\x82"), "na\u{ef}ve caf\u{e9}");
        assert_eq!(read("IBM852", b"\x9D\xA2d\xAB"), "\u{141}\u{f3}d\u{17a}");
        assert_eq!(read("cp_is", b"\x8D\x8B"), "\u{de}\u{d0}");
        assert_eq!(read("macCentralEurope", b"\xFC\x97\x64\x90"), "\u{141}\u{f3}d\u{17a}");
        assert_eq!(read("viscii", b"\x02\x14 Vi\xAEt"), "\u{1eb2}\u{1ef6} Vi\u{1ec7}t");
        assert_eq!(by_other_name("windows_1251").map(Encoding::name), Some("windows-1251"));
        assert_eq!(by_other_name("mac-cyrillic").map(Encoding::name), Some("x-mac-cyrillic"));
        assert_eq!((by_other_name("utf-7"), by_other_name("nonsense")), (None, None));
    }
}
