//! What the Node package calls: the core's stores, flows and rules, one line each.
//!
//! Values cross as plain JavaScript objects, see [`values`], what can be large in a compact form, see
//! [`packed`]. The TypeScript in `js/` checks what users pass in, performs the effects and makes the
//! public API of it.

mod conversation;
mod packed;
mod reader;
mod rules;
mod values;

use js_sys::Array;
use memdir_core::cli;
use memdir_core::flow::{self, Outcome, Response, Step};
use memdir_core::store::{self, ForgetOptions};
use serde::Serialize;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use conversation::Messages;
use values::{Thrown, from_js, json, to_js};

type Result<T> = std::result::Result<T, Thrown>;

/// One running operation.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Flow {
    running: flow::Flow<Box<dyn Value>>,
    /// To the effects of the last step, as far as they have come.
    answers: Vec<Response>,
}

/// What a flow ends with. It becomes a JavaScript value only when it is there, because those cannot
/// be sent to another thread, as flows can.
trait Value: Send {
    fn to_js(&self) -> Result<JsValue>;
}

impl<T: Serialize + Send> Value for T {
    fn to_js(&self) -> Result<JsValue> {
        to_js(self)
    }
}

impl Flow {
    /// A flow of any value; one type of value from here on keeps the module small.
    fn new<T: Serialize + Send + 'static>(flow: flow::Flow<T>) -> Self {
        Self {
            running: flow.map(|value| Box::new(value) as Box<dyn Value>),
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

    /// Takes a listing, see [`packed::listing`]; with the number of the last one, more of it.
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
        let listing = packed::listing(names, numbers, incomplete)?;
        match self.answers.last_mut() {
            Some(Response {
                id: last,
                outcome: Outcome::Listing(begun),
            }) if *last == id => {
                begun.entries.extend(listing.entries);
                begun.incomplete |= listing.incomplete;
            }
            _ => self.take(id, Outcome::Listing(listing)),
        }
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

    /// Runs the flow with these answers up to its next effects or its end: `{ effects }` or
    /// `{ done }`.
    ///
    /// # Errors
    /// The flow's own, or `protocol`.
    pub fn resume(&mut self) -> Result<JsValue> {
        let (name, value) = match self.running.resume(std::mem::take(&mut self.answers))? {
            Step::Effects(requests) => ("effects", to_js(&requests)?),
            Step::Done(value) => ("done", value.to_js()?),
        };
        Ok(values::object(name, value))
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
        Flow::new(self.0.scan().map(packed::scan))
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

    /// [`store::Store::instructions`], as JSON text, which the command line writes anyway.
    ///
    /// # Errors
    /// `invalid-argument`.
    pub fn instructions(&self, options: JsValue) -> Result<Flow> {
        let options = from_js("options", options)?;
        Ok(Flow::new(self.0.instructions(options).map(json)))
    }

    /// [`store::Store::instructions_for`], as JSON text.
    ///
    /// # Errors
    /// `invalid-argument`.
    #[wasm_bindgen(js_name = instructionsFor)]
    pub fn instructions_for(&self, path: String, options: JsValue) -> Result<Flow> {
        let options = from_js("options", options)?;
        Ok(Flow::new(self.0.instructions_for(path, options).map(json)))
    }

    /// [`store::Store::context`], as JSON text.
    ///
    /// # Errors
    /// `invalid-argument`.
    pub fn context(&self, options: JsValue) -> Result<Flow> {
        let options = from_js("options", options)?;
        Ok(Flow::new(self.0.context(options).map(json)))
    }

    /// [`store::Store::lint`].
    pub fn lint(&self) -> Flow {
        Flow::new(self.0.lint())
    }

    /// [`store::Store::recall`].
    ///
    /// # Errors
    /// `invalid-argument`.
    pub fn recall(&self, query: String, options: JsValue) -> Result<Flow> {
        Ok(Flow::new(
            self.0.recall(query, from_js("options", options)?),
        ))
    }

    /// [`store::Store::save`].
    ///
    /// # Errors
    /// `invalid-argument`.
    pub fn save(&self, options: JsValue) -> Result<Flow> {
        Ok(Flow::new(self.0.save(from_js("memory", options)?)))
    }

    /// [`store::Store::forget`].
    pub fn forget(&self, path: String, expect: Option<String>) -> Flow {
        Flow::new(self.0.forget(path, ForgetOptions { expect }))
    }

    /// [`store::Store::undo_forget`].
    #[wasm_bindgen(js_name = undoForget)]
    pub fn undo_forget(&self, path: Option<String>) -> Flow {
        Flow::new(self.0.undo_forget(path))
    }

    /// [`store::Store::log`].
    pub fn log(&self, text: String) -> Flow {
        Flow::new(self.0.log(text))
    }

    /// [`store::Store::tool`].
    pub fn tool(&self, input: String) -> Flow {
        Flow::new(self.0.tool(input))
    }

    /// [`store::Store::agent`].
    ///
    /// # Errors
    /// `invalid-argument` for an unknown scope.
    pub fn agent(&self, name: String, scope: JsValue) -> Result<Store> {
        Ok(Self(self.0.agent(name, from_js("scope", scope)?)))
    }

    /// [`store::Store::team_pull`].
    #[wasm_bindgen(js_name = teamPull)]
    pub fn team_pull(&self) -> Flow {
        Flow::new(self.0.team_pull())
    }

    /// [`store::Store::team_push`].
    #[wasm_bindgen(js_name = teamPush)]
    pub fn team_push(&self) -> Flow {
        Flow::new(self.0.team_push())
    }

    /// [`store::Store::team_sync`].
    #[wasm_bindgen(js_name = teamSync)]
    pub fn team_sync(&self) -> Flow {
        Flow::new(self.0.team_sync())
    }

    /// [`store::Store::team_status`].
    #[wasm_bindgen(js_name = teamStatus)]
    pub fn team_status(&self) -> Flow {
        Flow::new(self.0.team_status())
    }

    /// [`store::Store::team_watch`]; the period is a whole number.
    #[wasm_bindgen(js_name = teamWatch)]
    pub fn team_watch(&self, period_ms: Option<f64>) -> Flow {
        Flow::new(self.0.team_watch(period_ms.map(|period| period as u64)))
    }

    /// [`store::Store::team_conflicts`].
    #[wasm_bindgen(js_name = teamConflicts)]
    pub fn team_conflicts(&self) -> Flow {
        Flow::new(self.0.team_conflicts())
    }

    /// [`store::Store::team_conflict`].
    #[wasm_bindgen(js_name = teamConflict)]
    pub fn team_conflict(&self, id: String) -> Flow {
        Flow::new(self.0.team_conflict(id))
    }

    /// [`store::Store::team_restore`].
    #[wasm_bindgen(js_name = teamRestore)]
    pub fn team_restore(&self, id: String) -> Flow {
        Flow::new(self.0.team_restore(id))
    }

    /// [`store::Store::team_drop`].
    #[wasm_bindgen(js_name = teamDrop)]
    pub fn team_drop(&self, id: String) -> Flow {
        Flow::new(self.0.team_drop(id))
    }

    /// [`store::Store::extract`], as JSON text.
    ///
    /// # Errors
    /// `invalid-argument`.
    pub fn extract(&self, list: Array, request: JsValue, options: JsValue) -> Result<Flow> {
        let options = from_js("options", options)?;
        let flow = self.0.extract(&Messages { list, request }, options);
        Ok(Flow::new(flow.map(json)))
    }

    /// [`store::Store::begin_extraction`], as JSON text: schemas of tools are objects of their own kind.
    ///
    /// # Errors
    /// `invalid-argument`.
    #[wasm_bindgen(js_name = beginExtraction)]
    pub fn begin_extraction(
        &self,
        list: Array,
        request: JsValue,
        options: JsValue,
    ) -> Result<Flow> {
        let options = from_js("options", options)?;
        let flow = self
            .0
            .begin_extraction(&Messages { list, request }, options);
        Ok(Flow::new(flow.map(json)))
    }

    /// [`store::Store::call_tool`].
    #[wasm_bindgen(js_name = callTool)]
    pub fn call_tool(&self, run: u32, name: String, input: String) -> Flow {
        Flow::new(self.0.call_tool(run, name, input))
    }

    /// [`store::Store::end_extraction`], as JSON text.
    ///
    /// # Errors
    /// `invalid-argument`.
    #[wasm_bindgen(js_name = endExtraction)]
    pub fn end_extraction(&self, run: u32, report: JsValue) -> Result<Flow> {
        let report = from_js("report", report)?;
        Ok(Flow::new(self.0.end_extraction(run, report).map(json)))
    }

    /// [`store::Store::after_turn`], as JSON text.
    ///
    /// # Errors
    /// `invalid-argument`.
    #[wasm_bindgen(js_name = afterTurn)]
    pub fn after_turn(&self, list: Array, request: JsValue, options: JsValue) -> Result<Flow> {
        let options = from_js("options", options)?;
        let flow = self.0.after_turn(&Messages { list, request }, options);
        Ok(Flow::new(flow.map(json)))
    }

    /// [`store::Store::dream`], as JSON text.
    ///
    /// # Errors
    /// `invalid-argument`.
    pub fn dream(&self, options: JsValue) -> Result<Flow> {
        let options = from_js("options", options)?;
        Ok(Flow::new(self.0.dream(options).map(json)))
    }

    /// [`store::Store::undo_dream`].
    #[wasm_bindgen(js_name = undoDream)]
    pub fn undo_dream(&self) -> Flow {
        Flow::new(self.0.undo_dream())
    }

    /// [`store::SessionNotes::update`], as JSON text.
    ///
    /// # Errors
    /// `invalid-argument`.
    #[wasm_bindgen(js_name = sessionUpdate)]
    pub fn session_update(
        &self,
        id: String,
        list: Array,
        request: JsValue,
        options: JsValue,
    ) -> Result<Flow> {
        let options = from_js("options", options)?;
        let notes = self.0.session(id);
        let flow = notes.update(&Messages { list, request }, options);
        Ok(Flow::new(flow.map(json)))
    }

    /// [`store::SessionNotes::notes`].
    #[wasm_bindgen(js_name = sessionNotes)]
    pub fn session_notes(&self, id: String) -> Flow {
        Flow::new(self.0.session(id).notes())
    }

    /// [`store::SessionNotes::for_compaction`].
    ///
    /// # Errors
    /// `invalid-argument`.
    #[wasm_bindgen(js_name = sessionCompaction)]
    pub fn session_compaction(&self, id: String, list: Array, options: JsValue) -> Result<Flow> {
        let options = from_js("options", options)?;
        let notes = self.0.session(id);
        let flow = notes.for_compaction(&Messages::alone(list), options);
        Ok(Flow::new(flow))
    }

    /// [`store::SessionNotes::path`].
    #[wasm_bindgen(js_name = sessionPath)]
    pub fn session_path(&self, id: String) -> Flow {
        Flow::new(self.0.session(id).path())
    }

    /// [`store::Store::drain`]; the time is a whole number.
    pub fn drain(&self, timeout_ms: Option<f64>) -> Flow {
        Flow::new(self.0.drain(timeout_ms.map(|timeout| timeout as u64)))
    }

    /// [`store::Store::transcript`], as JSON text.
    pub fn transcript(&self, path: String) -> Flow {
        Flow::new(self.0.transcript(path).map(json))
    }

    /// [`store::Store::inbox`].
    pub fn inbox(&self) -> Flow {
        Flow::new(self.0.inbox())
    }

    /// [`store::Store::apply_proposal`].
    #[wasm_bindgen(js_name = applyProposal)]
    pub fn apply_proposal(&self, id: String, paths: Option<Vec<String>>) -> Flow {
        Flow::new(self.0.apply_proposal(id, paths))
    }

    /// [`store::Store::drop_proposal`].
    #[wasm_bindgen(js_name = dropProposal)]
    pub fn drop_proposal(&self, id: String, paths: Option<Vec<String>>) -> Flow {
        Flow::new(self.0.drop_proposal(id, paths))
    }

    /// [`store::Store::compacted`].
    pub fn compacted(&self) {
        self.0.compacted();
    }

    /// [`store::Store::close`].
    pub fn close(&self) -> Flow {
        Flow::new(self.0.close())
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
