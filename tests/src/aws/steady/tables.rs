//! The operations of DynamoDB that Curlew uses, over rows in memory. An unknown operation or condition panics, so that
//! no call is silently counted wrongly.

use super::access::list;
use super::run::Stored;
use crate::aws::item::size;
use crate::aws::unit::{READ_STEP, WRITE_STEP, steps};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Included, Unbounded};

/// Maximum number of bytes of one answer to Query or Scan (DynamoDB's guide, 1 MB).
const MOST_BYTES: usize = 1 << 20;

/// Partition and sort key of a row. The sort key is empty in a table without sort keys.
type Key = (String, String);

/// All tables, by name.
#[derive(Debug, Default)]
pub(super) struct Tables(BTreeMap<String, BTreeMap<Key, Value>>);

impl Tables {
    pub(super) fn clear(&mut self, table: &str) {
        self.0.remove(table);
    }

    /// Returns the number of rows of all tables whose names end with `end`, and their bytes as DynamoDB counts them.
    pub(super) fn stored(&self, end: &str) -> Stored {
        let rows = self.0.iter().filter(|(table, _)| table.ends_with(end)).flat_map(|(_, rows)| rows.values());
        rows.fold(Stored::default(), |sum, row| Stored { rows: sum.rows + 1, bytes: sum.bytes + size(row) })
    }

    pub(super) fn call(&mut self, operation: &str, request: &Value) -> (u16, Value) {
        let table = request["TableName"].as_str().unwrap_or_default().to_owned();
        match operation {
            "GetItem" => (200, self.get(&table, &request["Key"]).map_or(json!({}), |item| json!({"Item": item}))),
            "PutItem" | "DeleteItem" => self.write(&table, operation, request),
            "Query" | "Scan" => (200, self.read(&table, operation, request)),
            "BatchWriteItem" => (200, self.write_batch(request)),
            "BatchGetItem" => (200, self.get_batch(request)),
            _ => panic!("the endpoint in memory does not know {operation}: {request}"),
        }
    }

    fn get(&self, table: &str, key: &Value) -> Option<&Value> {
        self.0.get(table)?.get(&key_of(table, key))
    }

    fn write(&mut self, table: &str, operation: &str, request: &Value) -> (u16, Value) {
        let key = if operation == "PutItem" { &request["Item"] } else { &request["Key"] };
        let key = key_of(table, key);
        let rows = self.0.entry(table.to_owned()).or_default();
        let old = rows.get(&key).cloned();
        if let Some(condition) = request["ConditionExpression"].as_str()
            && !holds(condition, request, old.as_ref())
        {
            let mut refused = json!({
                "__type": "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException",
                "message": "The conditional request failed"
            });
            if let (Some(old), Value::Object(refused)) = (old, &mut refused) {
                refused.insert("Item".to_owned(), old);
            }
            return (400, refused);
        }
        match operation {
            "PutItem" => drop(rows.insert(key, request["Item"].clone())),
            _ => drop(rows.remove(&key)),
        }
        (200, old.map_or(json!({}), |old| json!({"Attributes": old})))
    }

    fn read(&self, table: &str, operation: &str, request: &Value) -> Value {
        let empty = BTreeMap::new();
        let rows = self.0.get(table).unwrap_or(&empty);
        let value = |name: &str| scalar(&request["ExpressionAttributeValues"][name]);
        let partition = (operation == "Query").then(|| value(":p"));
        let range = partition.as_ref().and_then(|_| match request["KeyConditionExpression"].as_str() {
            Some("#p = :p") => None,
            Some("#p = :p AND #k BETWEEN :first AND :last") => Some((value(":first"), value(":last"))),
            other => panic!("the endpoint in memory does not know this condition: {other:?}"),
        });
        let after = match (&request["ExclusiveStartKey"], &partition, &range) {
            (Value::Null, None, _) => Unbounded,
            (Value::Null, Some(partition), None) => Excluded((partition.clone(), String::new())),
            (Value::Null, Some(partition), Some((first, _))) => Included((partition.clone(), first.clone())),
            (key, ..) => Excluded(key_of(table, key)),
        };
        let limit = request["Limit"].as_u64().map_or(usize::MAX, |limit| usize::try_from(limit).unwrap());
        let mut read: Vec<&Value> = Vec::new();
        let (mut bytes, mut last) = (0, None);
        for (key, item) in rows.range((after, Unbounded)) {
            let is_beyond = range.as_ref().is_some_and(|(_, last)| key.1 > *last);
            if is_beyond || partition.as_ref().is_some_and(|partition| *partition != key.0) {
                break;
            }
            if read.len() >= limit || bytes >= MOST_BYTES {
                last = read.last().map(|item| names_of(table, item));
                break;
            }
            bytes += size(item);
            read.push(item);
        }
        let scanned = read.len();
        if let Some(filter) = request["FilterExpression"].as_str() {
            read.retain(|item| holds(filter, request, Some(item)));
        }
        let mut items: Vec<Value> = read.into_iter().cloned().collect();
        if let Some(projection) = request["ProjectionExpression"].as_str() {
            let wanted: Vec<&str> = projection.split(',').map(|name| attribute(name.trim(), request)).collect();
            items = items.iter().map(|item| project(item, &wanted)).collect();
        }
        let half = if request["ConsistentRead"] == true { 1.0 } else { 0.5 };
        let mut answer = json!({
            "Count": items.len(), "ScannedCount": scanned, "Items": items,
            "ConsumedCapacity": {"TableName": table, "CapacityUnits": steps(bytes, READ_STEP) * half}
        });
        if let (Some(last), Value::Object(answer)) = (last, &mut answer) {
            answer.insert("LastEvaluatedKey".to_owned(), last);
        }
        answer
    }

    fn write_batch(&mut self, request: &Value) -> Value {
        let mut consumed = Vec::new();
        for (table, writes) in request["RequestItems"].as_object().into_iter().flatten() {
            let mut units = 0.0;
            for write in list(writes) {
                let (put, key) = (&write["PutRequest"]["Item"], &write["DeleteRequest"]["Key"]);
                let rows = self.0.entry(table.clone()).or_default();
                let old = match key {
                    Value::Null => rows.insert(key_of(table, put), put.clone()),
                    key => rows.remove(&key_of(table, key)),
                };
                units += steps(size(put).max(old.as_ref().map_or(0, size)), WRITE_STEP);
            }
            consumed.push(json!({"TableName": table, "CapacityUnits": units}));
        }
        json!({"UnprocessedItems": {}, "ConsumedCapacity": consumed})
    }

    fn get_batch(&self, request: &Value) -> Value {
        let mut responses = Map::new();
        for (table, asked) in request["RequestItems"].as_object().into_iter().flatten() {
            let found: Vec<&Value> = list(&asked["Keys"]).filter_map(|key| self.get(table, key)).collect();
            responses.insert(table.clone(), json!(found));
        }
        json!({"Responses": responses, "UnprocessedKeys": {}})
    }
}

/// Returns the names of a table's key attributes, which are those of the template.
fn key_names(table: &str) -> (&'static str, Option<&'static str>) {
    match table.rsplit('-').next() {
        Some("sources") => ("slot", Some("k")),
        Some("parked") => ("due", Some("id")),
        _ => ("k", None),
    }
}

fn key_of(table: &str, item: &Value) -> Key {
    let (partition, sort) = key_names(table);
    (scalar(&item[partition]), sort.map_or_else(String::new, |sort| scalar(&item[sort])))
}

fn names_of(table: &str, item: &Value) -> Value {
    let (partition, sort) = key_names(table);
    project(item, &[Some(partition), sort].into_iter().flatten().collect::<Vec<_>>())
}

fn project(item: &Value, names: &[&str]) -> Value {
    let all = item.as_object().into_iter().flatten().filter(|(name, _)| names.contains(&name.as_str()));
    Value::Object(all.map(|(name, value)| (name.clone(), value.clone())).collect())
}

/// Returns the value of a string or number attribute.
fn scalar(attribute: &Value) -> String {
    let value = attribute["S"].as_str().or_else(|| attribute["N"].as_str());
    value.unwrap_or_else(|| panic!("neither a text nor a number: {attribute}")).to_owned()
}

/// Returns the name of an attribute, resolving a substitute name.
fn attribute<'a>(name: &'a str, request: &'a Value) -> &'a str {
    request["ExpressionAttributeNames"][name].as_str().unwrap_or(name)
}

/// Returns true if a condition holds for an item. A condition is a disjunction of conjunctions of functions and
/// comparisons, without parentheses around them.
fn holds(condition: &str, request: &Value, item: Option<&Value>) -> bool {
    condition.split(" OR ").any(|all| all.split(" AND ").all(|one| holds_one(one.trim(), request, item)))
}

fn holds_one(condition: &str, request: &Value, item: Option<&Value>) -> bool {
    let of = |name: &str| item.map(|item| &item[attribute(name.trim(), request)]).filter(|value| !value.is_null());
    let value = |name: &str| &request["ExpressionAttributeValues"][name.trim()];
    if let Some((function, arguments)) = condition.strip_suffix(')').and_then(|rest| rest.split_once('(')) {
        let (name, argument) = arguments.split_once(',').unwrap_or((arguments, ""));
        return match function {
            "attribute_not_exists" => of(name).is_none(),
            "attribute_exists" => of(name).is_some(),
            "begins_with" => of(name).is_some_and(|there| scalar(there).starts_with(&scalar(value(argument)))),
            _ => panic!("the endpoint in memory does not know {function}"),
        };
    }
    let words: Vec<&str> = condition.split(' ').collect();
    let [name, sign, other] = words[..] else { panic!("the endpoint in memory does not know '{condition}'") };
    let Some(there) = of(name) else { return false };
    let number = |value: &Value| value["N"].as_str().and_then(|number| number.parse::<f64>().ok());
    let order = match (number(there), number(value(other))) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        _ => there.to_string().cmp(&value(other).to_string()),
    };
    match sign {
        "=" => order.is_eq(),
        "<>" => order.is_ne(),
        "<" => order.is_lt(),
        "<=" => order.is_le(),
        ">" => order.is_gt(),
        ">=" => order.is_ge(),
        _ => panic!("the endpoint in memory does not know '{sign}'"),
    }
}
