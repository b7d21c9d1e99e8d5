//! What the Node package calls: the core's stores, flows and rules, one line each.
//!
//! Values cross as plain JavaScript objects, see [`values`], what can be large in a compact form, see
//! [`packed`]. The TypeScript in `js/` checks what users pass in, performs the effects and makes the
//! public API of it.

mod packed;
mod rules;
mod values;

use memdir_core::cli;
use memdir_core::flow::{self, Outcome, Response, Step};
use memdir_core::store;
use serde::Serialize;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use values::{Thrown, from_js, to_js};

type Result<T> = std::result::Result<T, Thrown>;

/// One running operation.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Flow {
    running: Box<dyn Resume>,
    /// To the effects of the last step, as far as they have come.
    answers: Vec<Response>,
}

/// A flow whose value becomes a JavaScript value. Those cannot be sent to another thread, so this
/// is not done by [`flow::Flow::map`].
trait Resume: std::fmt::Debug {
    fn resume(&mut self, answers: Vec<Response>) -> Result<JsValue>;
    fn cancel(&self);
}

/// A step as JavaScript sees it: `{ effects }` or `{ done }`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum StepValue<'a, T> {
    Effects(&'a [flow::Request]),
    Done(&'a T),
}

impl<T: Serialize + Send + 'static> Resume for flow::Flow<T> {
    fn resume(&mut self, answers: Vec<Response>) -> Result<JsValue> {
        match self.resume(answers)? {
            Step::Effects(requests) => to_js(&StepValue::<T>::Effects(&requests)),
            Step::Done(value) => to_js(&StepValue::Done(&value)),
        }
    }

    fn cancel(&self) {
        self.cancel();
    }
}

/// A flow whose value crosses in a compact form.
#[derive(Debug)]
struct Scanning(flow::Flow<store::Scan>);

impl Resume for Scanning {
    fn resume(&mut self, answers: Vec<Response>) -> Result<JsValue> {
        match self.0.resume(answers)? {
            Step::Effects(requests) => to_js(&StepValue::<()>::Effects(&requests)),
            Step::Done(scan) => to_js(&StepValue::Done(&packed::scan(scan))),
        }
    }

    fn cancel(&self) {
        self.0.cancel();
    }
}

impl Flow {
    fn new<T: Serialize + Send + 'static>(flow: flow::Flow<T>) -> Self {
        Self::running(flow)
    }

    fn running(flow: impl Resume + 'static) -> Self {
        Self {
            running: Box::new(flow),
            answers: Vec::new(),
        }
    }

    fn take(&mut self, id: u32, outcome: Outcome) {
        self.answers.push(Response { id, outcome });
    }
}

#[wasm_bindgen]
impl Flow {
    /// Takes the answer to one effect of the last step.
    ///
    /// # Errors
    /// `protocol`.
    pub fn answer(&mut self, id: u32, outcome: JsValue) -> Result<()> {
        self.take(id, values::outcome(outcome)?);
        Ok(())
    }

    /// Takes a listing, see [`packed::listing`].
    ///
    /// # Errors
    /// `protocol`.
    #[wasm_bindgen(js_name = answerListing)]
    pub fn answer_listing(
        &mut self,
        id: u32,
        names: &str,
        numbers: &[f64],
        incomplete: bool,
    ) -> Result<()> {
        self.take(
            id,
            Outcome::Listing(packed::listing(names, numbers, incomplete)?),
        );
        Ok(())
    }

    /// Takes the heads of many files, see [`packed::heads`].
    ///
    /// # Errors
    /// `protocol`.
    #[wasm_bindgen(js_name = answerHeads)]
    pub fn answer_heads(
        &mut self,
        id: u32,
        contents: &[u8],
        lengths: &[i32],
        failures: JsValue,
    ) -> Result<()> {
        self.take(
            id,
            Outcome::Heads(packed::heads(
                contents,
                lengths,
                values::failures(failures)?,
            )?),
        );
        Ok(())
    }

    /// Runs the flow with these answers up to its next effects or its end.
    ///
    /// # Errors
    /// The flow's own, or `protocol`.
    pub fn resume(&mut self) -> Result<JsValue> {
        self.running.resume(std::mem::take(&mut self.answers))
    }

    /// Asks the flow to stop; it is still to be resumed to its end.
    pub fn cancel(&self) {
        self.running.cancel();
    }
}

/// One open memory folder.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Store(store::Store);

#[wasm_bindgen]
impl Store {
    /// A store that its first flow opens.
    ///
    /// # Errors
    /// `invalid-argument`.
    #[wasm_bindgen(constructor)]
    pub fn new(options: JsValue) -> Result<Store> {
        Ok(Self(store::Store::new(from_js("options", options)?)))
    }

    /// [`store::Store::open`].
    pub fn open(&self) -> Flow {
        Flow::new(self.0.open())
    }

    /// [`store::Store::scan`], in the form of [`packed::scan`].
    pub fn scan(&self) -> Flow {
        Flow::running(Scanning(self.0.scan()))
    }

    /// [`store::Store::manifest`].
    pub fn manifest(&self) -> Flow {
        Flow::new(self.0.manifest())
    }

    /// [`store::Store::read`].
    pub fn read(&self, path: String) -> Flow {
        Flow::new(self.0.read(path))
    }

    /// [`store::Store::prompt`].
    ///
    /// # Errors
    /// `invalid-argument`.
    pub fn prompt(&self, options: JsValue) -> Result<Flow> {
        Ok(Flow::new(self.0.prompt(from_js("options", options)?)))
    }

    /// [`store::Store::lint`].
    pub fn lint(&self) -> Flow {
        Flow::new(self.0.lint())
    }

    /// [`store::Store::compacted`].
    pub fn compacted(&self) {
        self.0.compacted();
    }

    /// [`store::Store::close`].
    pub fn close(&self) {
        self.0.close();
    }
}

/// [`cli::command`].
///
/// # Errors
/// `invalid-argument`.
#[wasm_bindgen]
pub fn command(options: JsValue) -> Result<Flow> {
    Ok(Flow::new(cli::command(from_js("options", options)?)))
}
