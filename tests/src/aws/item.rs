//! The size of an item by DynamoDB's own rules (developer guide, item sizes and formats): the bytes of the names and
//! values of all attributes.

use serde_json::Value;

/// Bytes of a list or a map in addition to its elements.
const CONTAINER: usize = 3;
/// Bytes of each element of a list or a map in addition to the element itself.
const ELEMENT: usize = 1;

/// Returns the bytes of an item, given as DynamoDB's JSON; a missing item and null have none.
pub(crate) fn size(item: &Value) -> usize {
    item.as_object().into_iter().flatten().map(|(name, value)| name.len() + attribute(value)).sum()
}

fn attribute(value: &Value) -> usize {
    let Some((kind, value)) = value.as_object().and_then(|tagged| tagged.iter().next()) else { return 0 };
    let text = value.as_str().unwrap_or_default();
    let all =
        |size: fn(&str) -> usize| value.as_array().into_iter().flatten().filter_map(Value::as_str).map(size).sum();
    match kind.as_str() {
        "S" => text.len(),
        "N" => number(text),
        "B" => binary(text),
        "BOOL" | "NULL" => 1,
        "SS" => all(str::len),
        "NS" => all(number),
        "BS" => all(binary),
        "L" => CONTAINER + value.as_array().into_iter().flatten().map(|v| ELEMENT + attribute(v)).sum::<usize>(),
        "M" => {
            let entries = value.as_object().into_iter().flatten();
            CONTAINER + entries.map(|(name, v)| ELEMENT + name.len() + attribute(v)).sum::<usize>()
        }
        _ => 0,
    }
}

/// Returns the bytes of a base64 text, once decoded.
pub(crate) fn binary(base64: &str) -> usize {
    base64.trim_end_matches('=').len() * 3 / 4
}

/// Returns the bytes of a number: one, plus one for each two significant digits (in pairs from the decimal point), plus
/// one if the number is negative.
fn number(text: &str) -> usize {
    let negative = usize::from(text.starts_with('-'));
    let text = text.trim_start_matches(['+', '-']);
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_start_matches('0');
    let kept = significant.trim_end_matches('0');
    if kept.is_empty() {
        return 1;
    }
    let dropped = (significant.len() - kept.len()) as i64;
    let exponent = exponent.parse::<i64>().unwrap_or(0) - fraction.len() as i64 + dropped;
    // Each pair of digits begins at an even power of ten.
    let padded = kept.len() + usize::from(exponent.rem_euclid(2) == 1);
    1 + padded.div_ceil(2) + negative
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_and_values_are_counted() {
        let item = json!({"k": {"S": "h#a.example"}, "v": {"N": "12"}, "s": {"B": "AAECAw=="}, "ok": {"BOOL": true}});
        assert_eq!(size(&item), (1 + 11) + (1 + 2) + (1 + 4) + (2 + 1));
        assert_eq!(size(&Value::Null), 0);
        assert_eq!(size(&json!({"è": {"S": "è"}})), 4, "bytes of UTF-8 count, not characters");
    }

    #[test]
    fn lists_maps_and_sets_are_counted() {
        assert_eq!(size(&json!({"l": {"L": [{"S": "ab"}, {"NULL": true}]}})), 1 + 3 + (1 + 2) + (1 + 1));
        assert_eq!(size(&json!({"m": {"M": {"key": {"S": "ab"}}}})), 1 + 3 + (1 + 3 + 2));
        assert_eq!(size(&json!({"x": {"SS": ["ab", "c"]}})), 4);
        assert_eq!(size(&json!({"x": {"NS": ["1", "200"]}})), 1 + 2 + 2);
    }

    #[test]
    fn numbers_are_pairs_of_digits() {
        let sizes = ["0", "7", "12", "123", "-12", "100", "1000", "0.5", "12.5", "1e3"].map(number);
        assert_eq!(sizes, [1, 2, 2, 3, 3, 2, 2, 2, 3, 2]);
    }
}
