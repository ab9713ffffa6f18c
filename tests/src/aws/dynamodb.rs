//! DynamoDB's billing: write units by the larger of an item before and after, read units by the bytes read.
//!
//! The rules come from the developer guide (read and write operations, capacity unit consumption). A write takes one
//! unit for each KiB begun, a read one for each 4 KiB begun, or half of that if it is eventually consistent. An absent
//! item counts as one step. A failed condition is billed. A transaction doubles the units. Query and Scan are rounded
//! once, over all that they read.
//!
//! An answer alone shows too little, so the proxy requests more on behalf of its client ([`Asked::of`]), and removes
//! from the answer what the client did not request ([`Asked::clean`]).

use super::call::Call;
use super::charge::{Charge, json};
use super::item::size;
use super::meter::Meter;
use super::unit::{READ_STEP, Unit, WRITE_STEP, steps};
use bytes::Bytes;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Factor for transactions.
const TRANSACTION: f64 = 2.0;
/// Factor for eventually consistent reads.
const EVENTUAL: f64 = 0.5;

/// The operations that consume capacity. All others belong to the control plane and are free.
const CONSUMING: &str = "GetItem BatchGetItem TransactGetItems Query Scan PutItem UpdateItem DeleteItem BatchWriteItem \
                         TransactWriteItems";

/// A request as it is forwarded: the client's own, with additional fields for the meter.
#[derive(Debug)]
pub(crate) struct Asked {
    operation: String,
    request: Value,
    /// Fields of the answer that the client did not request.
    unasked: Vec<&'static str>,
    /// Fields of an answer about a failed condition that the client did not request.
    unasked_on_failure: Vec<&'static str>,
}

impl Asked {
    /// Reads a request, and adds the fields that ask for the sizes of the items involved and the consumed capacity.
    pub(crate) fn of(operation: &str, body: &[u8]) -> Asked {
        let mut asked = Asked {
            operation: operation.to_owned(),
            request: json(body),
            unasked: Vec::new(),
            unasked_on_failure: Vec::new(),
        };
        let Value::Object(request) = &mut asked.request else { return asked };
        if !consumes(operation) {
            return asked;
        }
        if ask(request, "ReturnConsumedCapacity", "TOTAL") {
            asked.unasked.push("ConsumedCapacity");
        }
        let image = match operation {
            "PutItem" | "DeleteItem" => "ALL_OLD",
            "UpdateItem" => "ALL_NEW",
            _ => return asked,
        };
        if ask(request, "ReturnValues", image) {
            asked.unasked.push("Attributes");
        }
        if request.contains_key("ConditionExpression") && ask(request, "ReturnValuesOnConditionCheckFailure", "ALL_OLD")
        {
            asked.unasked_on_failure.push("Item");
        }
        asked
    }

    pub(crate) fn body(&self) -> Vec<u8> {
        self.request.to_string().into_bytes()
    }

    /// Meters an answered call; returns the answer as the client would have received it without the meter.
    pub(crate) fn metered(&self, meter: &Meter, call: &Call, status: u16, body: Bytes) -> Bytes {
        let answer = json(&body);
        meter.call(call, &self.charges(status, &answer));
        if answer.is_object() { Bytes::from(self.clean(status, answer)) } else { body }
    }

    /// Returns the answer as the client would have received it without the meter.
    pub(crate) fn clean(&self, status: u16, mut answer: Value) -> Vec<u8> {
        if let Value::Object(answer) = &mut answer {
            let unasked = if status == 200 { &self.unasked } else { &self.unasked_on_failure };
            unasked.iter().for_each(|name| drop(answer.remove(*name)));
        }
        answer.to_string().into_bytes()
    }

    /// Returns the charges of the call, one for each table.
    pub(crate) fn charges(&self, status: u16, answer: &Value) -> Vec<Charge> {
        let (operation, request) = (self.operation.as_str(), &self.request);
        if !consumes(operation) {
            let target = text(request, "TableName");
            return vec![Charge { target, unit: Unit::Free, ours: 1.0, theirs: None, exact: true }];
        }
        match (status, error(answer).as_str()) {
            (200, _) => done(operation, request, answer),
            (400, "ConditionalCheckFailedException") => failed(request, answer),
            // Nothing was written, but the whole transaction is billed.
            (400, "TransactionCanceledException") => transact_write(request, answer),
            // A throttled or refused request and an internal error are not billed.
            _ => Vec::new(),
        }
    }
}

fn consumes(operation: &str) -> bool {
    CONSUMING.split(' ').any(|consuming| consuming == operation)
}

/// Sets a field that the client has not set; returns true if it did so.
fn ask(request: &mut Map<String, Value>, field: &str, wanted: &str) -> bool {
    let open = request.get(field).is_none_or(|value| value.as_str() == Some("NONE"));
    if open {
        request.insert(field.to_owned(), wanted.into());
    }
    open
}

fn done(operation: &str, request: &Value, answer: &Value) -> Vec<Charge> {
    match operation {
        "GetItem" => {
            let units = read_steps(size(&answer["Item"])) * consistency(request);
            vec![single(request, answer, Unit::Read, units, !narrowed(request))]
        }
        "Query" | "Scan" => {
            let bytes = list(&answer["Items"]).map(size).sum();
            let all = answer["ScannedCount"] == answer["Count"] && !narrowed(request);
            vec![single(request, answer, Unit::Read, read_steps(bytes) * consistency(request), all)]
        }
        "PutItem" => vec![single(request, answer, Unit::Write, written(&request["Item"], &answer["Attributes"]), true)],
        // The answer to an update shows the item only as it is afterwards; the answer to a delete only as it was
        // before.
        "UpdateItem" => vec![single(request, answer, Unit::Write, written(&answer["Attributes"], &Value::Null), false)],
        "DeleteItem" => vec![single(request, answer, Unit::Write, written(&answer["Attributes"], &Value::Null), true)],
        "BatchGetItem" => batch_get(request, answer),
        "BatchWriteItem" => batch_write(request, answer),
        "TransactGetItems" => transact_get(request, answer),
        _ => transact_write(request, answer),
    }
}

/// Returns the charge of a write whose condition failed, by the larger of the present item and the intended one.
fn failed(request: &Value, answer: &Value) -> Vec<Charge> {
    let units = written(&request["Item"], &answer["Item"]);
    vec![single(request, answer, Unit::Write, units, request.get("UpdateExpression").is_none())]
}

fn batch_get(request: &Value, answer: &Value) -> Vec<Charge> {
    let tables = request["RequestItems"].as_object().into_iter().flatten();
    let charge = |(table, asked): (&String, &Value)| {
        let undone = list(&answer["UnprocessedKeys"][table]["Keys"]).count();
        let keys = list(&asked["Keys"]).count().saturating_sub(undone);
        let found: Vec<f64> = list(&answer["Responses"][table]).map(|item| read_steps(size(item))).collect();
        let absent = keys.saturating_sub(found.len()) as f64;
        let ours = (found.iter().sum::<f64>() + absent) * consistency(asked);
        let theirs = said(answer, table);
        Charge { target: table.clone(), unit: Unit::Read, ours, theirs, exact: !narrowed(asked) }
    };
    tables.map(charge).collect()
}

fn batch_write(request: &Value, answer: &Value) -> Vec<Charge> {
    let tables = request["RequestItems"].as_object().into_iter().flatten();
    let charge = |(table, writes): (&String, &Value)| {
        let undone: Vec<&Value> = list(&answer["UnprocessedItems"][table]).collect();
        let done: Vec<&Value> = list(writes).filter(|write| !undone.contains(write)).collect();
        let ours = done.iter().map(|write| written(&write["PutRequest"]["Item"], &Value::Null)).sum();
        // The answer does not show the earlier item.
        Charge { target: table.clone(), unit: Unit::Write, ours, theirs: said(answer, table), exact: false }
    };
    tables.map(charge).collect()
}

fn transact_get(request: &Value, answer: &Value) -> Vec<Charge> {
    let mut tables: BTreeMap<String, f64> = BTreeMap::new();
    for (asked, got) in list(&request["TransactItems"]).zip(list(&answer["Responses"])) {
        let units = read_steps(size(&got["Item"])) * TRANSACTION;
        *tables.entry(text(&asked["Get"], "TableName")).or_default() += units;
    }
    by_table(tables, Unit::Read, answer)
}

fn transact_write(request: &Value, answer: &Value) -> Vec<Charge> {
    let mut tables: BTreeMap<String, f64> = BTreeMap::new();
    let actions = list(&request["TransactItems"]).filter_map(Value::as_object).flatten();
    for (_, action) in actions {
        let units = written(&action["Item"], &Value::Null) * TRANSACTION;
        *tables.entry(text(action, "TableName")).or_default() += units;
    }
    by_table(tables, Unit::Write, answer)
}

fn by_table(tables: BTreeMap<String, f64>, unit: Unit, answer: &Value) -> Vec<Charge> {
    let charge =
        |(target, ours): (String, f64)| Charge { theirs: said(answer, &target), target, unit, ours, exact: false };
    tables.into_iter().map(charge).collect()
}

fn single(request: &Value, answer: &Value, unit: Unit, ours: f64, exact: bool) -> Charge {
    let table = text(request, "TableName");
    let theirs = said(answer, &table);
    Charge { target: with_kind(table, request), unit, ours, theirs, exact }
}

/// Returns the name of a table. If the table has several kinds of rows, the kind of the request's key, such as `h#`,
/// follows after a space.
fn with_kind(table: String, request: &Value) -> String {
    let key = ["Key", "Item"].iter().find_map(|part| request[*part]["k"]["S"].as_str());
    match key.and_then(|key| key.split_once('#')) {
        Some((kind, _)) if kind.len() == 1 => format!("{table} {kind}#"),
        _ => table,
    }
}

/// Returns the capacity of a table that a call has consumed, as the endpoint reports it.
fn said(answer: &Value, table: &str) -> Option<f64> {
    let consumed = &answer["ConsumedCapacity"];
    let of = |entry: &Value| entry["CapacityUnits"].as_f64();
    match consumed.as_array() {
        Some(tables) => tables.iter().find(|entry| entry["TableName"] == table).and_then(of),
        None => of(consumed),
    }
}

/// Returns true if the answer may contain less than was read: some attributes, an index, or only a count.
fn narrowed(request: &Value) -> bool {
    ["ProjectionExpression", "AttributesToGet", "IndexName", "Select"].iter().any(|field| !request[*field].is_null())
}

fn consistency(request: &Value) -> f64 {
    if request["ConsistentRead"] == true { 1.0 } else { EVENTUAL }
}

fn read_steps(bytes: usize) -> f64 {
    steps(bytes, READ_STEP)
}

fn written(now: &Value, before: &Value) -> f64 {
    steps(size(now).max(size(before)), WRITE_STEP)
}

/// Returns the name of an error, which follows a `#`.
fn error(answer: &Value) -> String {
    answer["__type"].as_str().and_then(|kind| kind.rsplit('#').next()).unwrap_or_default().to_owned()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Returns a text field. Tables are identified by name here, not by ARN.
fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn item(bytes: usize) -> Value {
        json!({"k": {"S": "x".repeat(bytes - 1)}})
    }

    /// Returns the charges of an answered call, by our own reading.
    fn ours(operation: &str, request: &Value, status: u16, answer: &Value) -> Vec<(String, Unit, f64)> {
        let asked = Asked::of(operation, request.to_string().as_bytes());
        asked.charges(status, answer).into_iter().map(|charge| (charge.target, charge.unit, charge.ours)).collect()
    }

    fn of_t(unit: Unit, units: f64) -> Vec<(String, Unit, f64)> {
        vec![("t".to_owned(), unit, units)]
    }

    #[test]
    fn reads_are_by_4_kib_and_half_if_eventual() {
        let get = |consistent: bool| json!({"TableName": "t", "ConsistentRead": consistent});
        let found = |bytes: usize| json!({"Item": item(bytes)});
        assert_eq!(ours("GetItem", &get(true), 200, &found(4096)), of_t(Unit::Read, 1.0));
        assert_eq!(ours("GetItem", &get(true), 200, &found(4097)), of_t(Unit::Read, 2.0));
        assert_eq!(ours("GetItem", &get(false), 200, &found(4097)), of_t(Unit::Read, 1.0));
        assert_eq!(ours("GetItem", &get(true), 200, &json!({})), of_t(Unit::Read, 1.0), "an absent item is one step");
        let ten = json!({"Items": vec![item(1000); 10], "Count": 10, "ScannedCount": 10});
        assert_eq!(ours("Query", &get(true), 200, &ten), of_t(Unit::Read, 3.0), "the sum of all items is rounded once");
        let batch = json!({"RequestItems": {"t": {"Keys": [1, 2, 3]}}});
        let some = json!({"Responses": {"t": [item(10), item(5000)]}});
        assert_eq!(ours("BatchGetItem", &batch, 200, &some), of_t(Unit::Read, 2.0), "1 + 2 + 1, halved");
    }

    #[test]
    fn writes_are_by_1_kib_of_the_larger_image() {
        let put = json!({"TableName": "t", "Item": item(1024), "ConditionExpression": "attribute_not_exists(k)"});
        assert_eq!(ours("PutItem", &put, 200, &json!({})), of_t(Unit::Write, 1.0));
        assert_eq!(ours("PutItem", &put, 200, &json!({"Attributes": item(1025)})), of_t(Unit::Write, 2.0));
        let refused = json!({"__type": "a#ConditionalCheckFailedException", "Item": item(2049)});
        assert_eq!(ours("PutItem", &put, 400, &refused), of_t(Unit::Write, 3.0), "a failed condition is billed");
        let delete = json!({"TableName": "t", "Key": {"k": {"S": "x"}}});
        assert_eq!(ours("DeleteItem", &delete, 200, &json!({"Attributes": item(3000)})), of_t(Unit::Write, 3.0));
        assert_eq!(ours("DeleteItem", &delete, 200, &json!({})), of_t(Unit::Write, 1.0));
        let throttled = json!({"__type": "a#ProvisionedThroughputExceededException"});
        assert_eq!(ours("PutItem", &put, 400, &throttled), [], "a throttled write is not billed");
    }

    #[test]
    fn batches_are_item_by_item_and_transactions_double() {
        let put = |bytes: usize| json!({"PutRequest": {"Item": item(bytes)}});
        let batch = json!({"RequestItems": {"t": [put(10), put(2000), put(9000)]}});
        let left = json!({"UnprocessedItems": {"t": [put(9000)]}});
        assert_eq!(ours("BatchWriteItem", &batch, 200, &left), of_t(Unit::Write, 3.0));
        let two = json!({"TransactItems": [
            {"Put": {"TableName": "t", "Item": item(2000)}},
            {"Put": {"TableName": "t", "Item": item(10)}},
        ]});
        assert_eq!(ours("TransactWriteItems", &two, 200, &json!({})), of_t(Unit::Write, 6.0));
        let cancelled = json!({"__type": "a#TransactionCanceledException"});
        assert_eq!(ours("TransactWriteItems", &two, 400, &cancelled), of_t(Unit::Write, 6.0));
    }

    #[test]
    fn the_client_gets_what_it_asked_for_and_nothing_else() {
        let put = json!({"TableName": "t", "Item": item(10), "ConditionExpression": "c"});
        let asked = Asked::of("PutItem", put.to_string().as_bytes());
        let forwarded = json(&asked.body());
        for (field, wanted) in [
            ("ReturnConsumedCapacity", "TOTAL"),
            ("ReturnValues", "ALL_OLD"),
            ("ReturnValuesOnConditionCheckFailure", "ALL_OLD"),
        ] {
            assert_eq!(forwarded[field], wanted);
        }
        let answer = json!({"Attributes": item(10), "ConsumedCapacity": {"TableName": "t", "CapacityUnits": 1.0}});
        assert_eq!(json(&asked.clean(200, answer)), json!({}));
        let refused = json!({"__type": "a#ConditionalCheckFailedException", "message": "m", "Item": item(10)});
        assert_eq!(json(&asked.clean(400, refused))["Item"], Value::Null);

        let curious = json!({"TableName": "t", "Item": item(10), "ReturnValues": "ALL_OLD"});
        let asked = Asked::of("PutItem", curious.to_string().as_bytes());
        assert_eq!(json(&asked.clean(200, json!({"Attributes": item(10)}))), json!({"Attributes": item(10)}));
    }

    #[test]
    fn the_larger_figure_is_billed() {
        let asked = Asked::of("Query", json!({"TableName": "t"}).to_string().as_bytes());
        let answer = json!({"Items": vec![item(1000); 100], "Count": 100, "ScannedCount": 100,
            "ConsumedCapacity": {"TableName": "t", "CapacityUnits": 0.5}});
        let charge = asked.charges(200, &answer).remove(0);
        assert_eq!((charge.theirs, charge.units()), (Some(0.5), 12.5));
    }
}
