//! Encodings that an XML declaration may name and that the Encoding Standard leaves out, so that browsers and
//! encoding_rs do not know them: code pages of DOS and of old Macs, of Tajik and Vietnamese.

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
    pub(super) fn for_label(label: &str) -> Option<&'static CodePage> {
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
        let read =
            |label: &str, body: &[u8]| CodePage::for_label(label).map(|page| page.decode(body)).unwrap_or_default();
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
