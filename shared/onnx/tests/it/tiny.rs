//! Writes tiny models in the ONNX format (onnx.proto3), with a minimal Protocol Buffers encoder.

/// Data type of float tensors in ONNX, and two wire types of Protocol Buffers.
const FLOAT: u64 = 1;
const VARINT: u64 = 0;
const BYTES: u64 = 2;
/// Type of integer attributes.
const INT: u64 = 2;

fn varint(mut n: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
    out
}

fn number(field: u64, n: u64) -> Vec<u8> {
    [varint(field << 3 | VARINT), varint(n)].concat()
}

fn bytes(field: u64, content: &[u8]) -> Vec<u8> {
    [varint(field << 3 | BYTES), varint(content.len() as u64), content.to_vec()].concat()
}

fn text(field: u64, content: &str) -> Vec<u8> {
    bytes(field, content.as_bytes())
}

fn node(operator: &str, inputs: &[&str], output: &str, attributes: &[(&str, u64)]) -> Vec<u8> {
    let inputs = inputs.iter().flat_map(|input| text(1, input));
    let attributes = attributes
        .iter()
        .flat_map(|(name, value)| bytes(5, &[text(1, name), number(3, *value), number(20, INT)].concat()));
    let node: Vec<u8> =
        inputs.chain(text(2, output)).chain(text(3, output)).chain(text(4, operator)).chain(attributes).collect();
    bytes(1, &node)
}

fn tensor(name: &str, dims: &[u64], values: &[f32]) -> Vec<u8> {
    let raw: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    let dims = dims.iter().flat_map(|d| number(1, *d));
    let tensor: Vec<u8> = dims.chain(number(2, FLOAT)).chain(text(8, name)).chain(bytes(9, &raw)).collect();
    bytes(5, &tensor)
}

fn value(field: u64, name: &str, dims: &[u64]) -> Vec<u8> {
    let shape: Vec<u8> = dims.iter().flat_map(|d| bytes(1, &number(1, *d))).collect();
    let tensor_type = [number(1, FLOAT), bytes(2, &shape)].concat();
    bytes(field, &[text(1, name), bytes(2, &bytes(1, &tensor_type))].concat())
}

/// Returns a model with a weighted sum of the mean of each colour: one output per row of `weights`.
pub(crate) fn of_colours(side: u64, weights: &[[f32; 3]]) -> Vec<u8> {
    let rows = weights.len() as u64;
    let graph = [
        node("GlobalAveragePool", &["image"], "means", &[]),
        node("Flatten", &["means"], "flat", &[("axis", 1)]),
        node("Gemm", &["flat", "weights", "bias"], "scores", &[("transB", 1)]),
        text(2, "colours"),
        tensor("weights", &[rows, 3], &weights.concat()),
        tensor("bias", &[rows], &vec![0.0; weights.len()]),
        value(11, "image", &[1, 3, side, side]),
        value(12, "scores", &[1, rows]),
    ];
    model(&graph.concat())
}

/// Returns a model with a single operator, one that no image classifier uses.
pub(crate) fn of_operator(operator: &str) -> Vec<u8> {
    let graph = [
        node(operator, &["image"], "out", &[]),
        text(2, "odd"),
        value(11, "image", &[1, 3, 8, 8]),
        value(12, "out", &[1, 3, 8, 8]),
    ];
    model(&graph.concat())
}

fn model(graph: &[u8]) -> Vec<u8> {
    let opset = [text(1, ""), number(2, 13)].concat();
    [number(1, 8), bytes(7, graph), bytes(8, &opset)].concat()
}
