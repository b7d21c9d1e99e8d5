//! What goes out to Python: a serde serializer that makes dicts in the shape of the core's JSON,
//! or of each struct the dataclass with the same name in `memdir._types`, its fields in snake_case.
//!
//! pythonize's own serializer cannot make the second, since its named maps must be mappings.

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::{Mutex, PoisonError};

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple, PyType};
use serde::ser::{self, Serialize};

/// What becomes of structs and sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Dicts with the keys of the JSON, and lists.
    Dicts,
    /// Dataclasses, with tuples inside them, since they are frozen; lists elsewhere.
    Classes,
    /// Within a dataclass.
    Inside,
}

/// The Python value of `value`.
pub(crate) fn to_python<'py>(
    py: Python<'py>,
    value: &impl Serialize,
    shape: Shape,
) -> PyResult<Bound<'py, PyAny>> {
    value
        .serialize(Out { py, shape })
        .map_err(|Failed(failed)| failed)
}

/// A dataclass and the interned names of its fields, in the order of the Rust struct.
struct Class {
    class: Py<PyType>,
    fields: Vec<(&'static str, Py<PyString>)>,
}

/// Filled as structs are met. Never locked while Python code can run.
static CLASSES: PyOnceLock<Mutex<HashMap<&'static str, Class>>> = PyOnceLock::new();

/// Serde wants its own error type.
#[derive(Debug)]
struct Failed(PyErr);

impl Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Failed {}

impl ser::Error for Failed {
    fn custom<T: Display>(message: T) -> Self {
        Self(PyTypeError::new_err(message.to_string()))
    }
}

impl From<PyErr> for Failed {
    fn from(failed: PyErr) -> Self {
        Self(failed)
    }
}

type Made<'py> = Result<Bound<'py, PyAny>, Failed>;

#[derive(Clone, Copy)]
struct Out<'py> {
    py: Python<'py>,
    shape: Shape,
}

impl<'py> Out<'py> {
    fn plain(self, value: impl IntoPyObjectExt<'py>) -> Made<'py> {
        Ok(value.into_bound_py_any(self.py)?)
    }

    fn tagged(self, variant: &'static str, value: Bound<'py, PyAny>) -> Made<'py> {
        let dict = PyDict::new(self.py);
        dict.set_item(PyString::intern(self.py, variant), value)?;
        Ok(dict.into_any())
    }
}

macro_rules! plain {
    ($($method:ident: $type:ty;)*) => {
        $(fn $method(self, value: $type) -> Made<'py> {
            self.plain(value)
        })*
    };
}

impl<'py> ser::Serializer for Out<'py> {
    type Ok = Bound<'py, PyAny>;
    type Error = Failed;
    type SerializeSeq = Sequence<'py>;
    type SerializeTuple = Sequence<'py>;
    type SerializeTupleStruct = Sequence<'py>;
    type SerializeTupleVariant = ser::Impossible<Self::Ok, Failed>;
    type SerializeMap = Map<'py>;
    type SerializeStruct = Struct<'py>;
    type SerializeStructVariant = ser::Impossible<Self::Ok, Failed>;

    plain! {
        serialize_bool: bool;
        serialize_i8: i8;
        serialize_i16: i16;
        serialize_i32: i32;
        serialize_i64: i64;
        serialize_u8: u8;
        serialize_u16: u16;
        serialize_u32: u32;
        serialize_u64: u64;
        serialize_f32: f32;
        serialize_f64: f64;
        serialize_char: char;
        serialize_str: &str;
    }

    fn serialize_bytes(self, value: &[u8]) -> Made<'py> {
        Ok(PyBytes::new(self.py, value).into_any())
    }

    fn serialize_none(self) -> Made<'py> {
        self.serialize_unit()
    }

    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Made<'py> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Made<'py> {
        Ok(self.py.None().into_bound(self.py))
    }

    fn serialize_unit_struct(self, _: &'static str) -> Made<'py> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Made<'py> {
        // Codes, kinds and types: a few words, many times.
        Ok(PyString::intern(self.py, variant).into_any())
    }

    fn serialize_newtype_struct<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        value: &T,
    ) -> Made<'py> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Made<'py> {
        let value = value.serialize(self)?;
        self.tagged(variant, value)
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Sequence<'py>, Failed> {
        Ok(Sequence {
            out: self,
            items: Vec::with_capacity(length.unwrap_or_default()),
        })
    }

    fn serialize_tuple(self, length: usize) -> Result<Sequence<'py>, Failed> {
        self.serialize_seq(Some(length))
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        length: usize,
    ) -> Result<Sequence<'py>, Failed> {
        self.serialize_seq(Some(length))
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Failed> {
        Err(ser::Error::custom(format_args!(
            "{name} has a variant of a kind that is not made for Python"
        )))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Map<'py>, Failed> {
        // Data, and frozen nowhere.
        let shape = match self.shape {
            Shape::Dicts => Shape::Dicts,
            Shape::Classes | Shape::Inside => Shape::Classes,
        };
        Ok(Map {
            out: Out { shape, ..self },
            dict: PyDict::new(self.py),
            key: None,
        })
    }

    fn serialize_struct(self, name: &'static str, length: usize) -> Result<Struct<'py>, Failed> {
        let inner = if self.shape == Shape::Dicts {
            Shape::Dicts
        } else {
            Shape::Inside
        };
        let inner = Out {
            shape: inner,
            ..self
        };
        Ok(Struct {
            out: self,
            inner,
            name,
            values: Vec::with_capacity(length),
        })
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Failed> {
        Err(ser::Error::custom(format_args!(
            "{name} has a variant of a kind that is not made for Python"
        )))
    }
}

struct Sequence<'py> {
    out: Out<'py>,
    items: Vec<Bound<'py, PyAny>>,
}

impl<'py> ser::SerializeSeq for Sequence<'py> {
    type Ok = Bound<'py, PyAny>;
    type Error = Failed;

    fn serialize_element<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Failed> {
        self.items.push(value.serialize(self.out)?);
        Ok(())
    }

    fn end(self) -> Made<'py> {
        let py = self.out.py;
        Ok(match self.out.shape {
            Shape::Inside => PyTuple::new(py, self.items)?.into_any(),
            Shape::Dicts | Shape::Classes => PyList::new(py, self.items)?.into_any(),
        })
    }
}

macro_rules! as_sequence {
    ($($trait:ident $method:ident;)*) => {
        $(impl<'py> ser::$trait for Sequence<'py> {
            type Ok = Bound<'py, PyAny>;
            type Error = Failed;

            fn $method<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Failed> {
                ser::SerializeSeq::serialize_element(self, value)
            }

            fn end(self) -> Made<'py> {
                ser::SerializeSeq::end(self)
            }
        })*
    };
}

as_sequence! {
    SerializeTuple serialize_element;
    SerializeTupleStruct serialize_field;
}

/// A map of the core: a dict whose keys are data, not names.
struct Map<'py> {
    out: Out<'py>,
    dict: Bound<'py, PyDict>,
    key: Option<Bound<'py, PyAny>>,
}

impl<'py> ser::SerializeMap for Map<'py> {
    type Ok = Bound<'py, PyAny>;
    type Error = Failed;

    fn serialize_key<T: ?Sized + Serialize>(&mut self, key: &T) -> Result<(), Failed> {
        self.key = Some(key.serialize(self.out)?);
        Ok(())
    }

    fn serialize_value<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Failed> {
        let key = self
            .key
            .take()
            .ok_or_else(|| <Failed as ser::Error>::custom("a value without a key"))?;
        Ok(self.dict.set_item(key, value.serialize(self.out)?)?)
    }

    fn end(self) -> Made<'py> {
        Ok(self.dict.into_any())
    }
}

struct Struct<'py> {
    out: Out<'py>,
    inner: Out<'py>,
    name: &'static str,
    values: Vec<(&'static str, Bound<'py, PyAny>)>,
}

impl<'py> ser::SerializeStruct for Struct<'py> {
    type Ok = Bound<'py, PyAny>;
    type Error = Failed;

    fn serialize_field<T: ?Sized + Serialize>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), Failed> {
        self.values.push((key, value.serialize(self.inner)?));
        Ok(())
    }

    fn end(self) -> Made<'py> {
        let py = self.out.py;
        let fields = PyDict::new(py);
        if self.out.shape == Shape::Dicts {
            for (key, value) in self.values {
                fields.set_item(PyString::intern(py, key), value)?;
            }
            return Ok(fields.into_any());
        }
        let (class, names) = self.class()?;
        for (name, (_, value)) in names.into_iter().zip(self.values) {
            fields.set_item(name, value)?;
        }
        Ok(class.call((), Some(&fields))?)
    }
}

impl<'py> Struct<'py> {
    /// The dataclass of this struct and the names of its fields.
    fn class(&self) -> Result<(Bound<'py, PyType>, Vec<Bound<'py, PyString>>), Failed> {
        let py = self.out.py;
        let classes = CLASSES.get_or_init(py, Mutex::default);
        let known = classes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(self.name)
            .and_then(|known| {
                let same = known.fields.len() == self.values.len()
                    && known
                        .fields
                        .iter()
                        .zip(&self.values)
                        .all(|((name, _), (key, _))| name == key);
                same.then(|| {
                    let names = known
                        .fields
                        .iter()
                        .map(|(_, name)| name.bind(py).clone())
                        .collect();
                    (known.class.bind(py).clone(), names)
                })
            });
        if let Some(known) = known {
            return Ok(known);
        }
        let class = py
            .import("memdir._types")?
            .getattr(self.name)?
            .cast_into::<PyType>()
            .map_err(PyErr::from)?;
        // What is a dict in Python is data there too, with the keys that it has everywhere.
        let is_data = class.is_subclass_of::<PyDict>()?;
        let name = |key: &str| match is_data {
            true => PyString::intern(py, key),
            false => PyString::intern(py, &snake_case(key)),
        };
        let names: Vec<_> = self.values.iter().map(|(key, _)| name(key)).collect();
        let fields = self
            .values
            .iter()
            .zip(&names)
            .map(|((key, _), name)| (*key, name.clone().unbind()))
            .collect();
        let new = Class {
            class: class.clone().unbind(),
            fields,
        };
        classes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(self.name, new);
        Ok((class, names))
    }
}

fn snake_case(camel_case: &str) -> String {
    let mut name = String::with_capacity(camel_case.len().saturating_add(4));
    for c in camel_case.chars() {
        if c.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}
