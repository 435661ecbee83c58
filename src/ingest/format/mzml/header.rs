//! The header: parameter groups, source files, software, instruments. Only what may leave is kept.

use super::context::RunContext;
use super::param::{Accession, Param};
use super::xml::{Attributes, Visitor};
use std::mem;

/// Most entries of each list of names that are kept.
const LIST_LIMIT: usize = 16;

/// MS:1000529 instrument serial number and MS:1000032 customization say nothing about the model.
const NOT_A_MODEL: [u32; 2] = [1_000_529, 1_000_032];

/// Native ID formats (children of MS:1000767) are recognised by accession.
const NATIVE_ID_FORMATS: &[u32] = &[
    1_000_768, 1_000_769, 1_000_770, 1_000_771, 1_000_772, 1_000_773, 1_000_774, 1_000_775, 1_000_776,
    1_000_777, 1_000_823, 1_000_824, 1_000_929, 1_001_186, 1_001_480, 1_001_508, 1_001_526, 1_001_528,
    1_001_531, 1_001_532, 1_001_559, 1_001_562, 1_002_303, 1_002_532, 1_002_818, 1_002_898, 1_003_335,
];

/// Thermo nativeID format.
const THERMO_NATIVE_ID: u32 = 1_000_768;

/// Reads one child of `<mzML>` that stands before the run.
pub(super) struct HeaderVisitor<'c> {
    context: &'c mut RunContext,
    path: Vec<String>,
    id: String,
    version: String,
    group: Vec<Param<'static>>,
    model: Option<String>,
    analyzers: Vec<String>,
    software: Option<String>,
}

impl<'c> HeaderVisitor<'c> {
    pub(super) fn new(context: &'c mut RunContext) -> Self {
        Self {
            context,
            path: Vec::new(),
            id: String::new(),
            version: String::new(),
            group: Vec::new(),
            model: None,
            analyzers: Vec::new(),
            software: None,
        }
    }

    fn is_inside(&self, name: &str) -> bool {
        self.path.iter().any(|element| element == name)
    }

    fn param(&mut self, param: Param<'_>) {
        if matches!(param.accession, Accession::Imaging(_)) {
            self.context.is_imaging = true;
        }
        if self.is_inside("referenceableParamGroup") {
            self.group.push(param.into_owned());
            return;
        }
        let Accession::Ms(accession) = param.accession else { return };
        if self.is_inside("sourceFile") && NATIVE_ID_FORMATS.contains(&accession) {
            self.context.is_thermo |= accession == THERMO_NATIVE_ID;
            self.context.description.native_id_format.get_or_insert_with(|| param.name.into_owned());
        } else if self.is_inside("analyzer") {
            self.analyzers.push(param.name.into_owned());
        } else if self.path.last().is_some_and(|name| name == "instrumentConfiguration") {
            if !NOT_A_MODEL.contains(&accession) && self.model.is_none() {
                self.model = Some(param.name.into_owned());
            }
        } else if self.path.last().is_some_and(|name| name == "software") && self.software.is_none() {
            self.software = Some(param.name.into_owned());
        }
    }

    fn apply_group(&mut self, id: &str) -> Result<(), String> {
        let params = self.context.groups.get(id).cloned();
        let params = params.ok_or_else(|| format!("the referenceableParamGroup {id} is missing"))?;
        params.into_iter().for_each(|param| self.param(param));
        Ok(())
    }

    fn source_file(&mut self, name: &str) {
        // A name may be a whole path of the acquisition computer: only its last part is kept.
        let base = name.rsplit(['/', '\\']).next().unwrap_or_default();
        let names = &mut self.context.description.source_file_names;
        if !base.is_empty() && names.len() < LIST_LIMIT {
            names.push(base.to_owned());
        }
    }
}

impl Visitor for HeaderVisitor<'_> {
    fn start(&mut self, name: &str, attributes: &Attributes<'_>) -> Result<(), String> {
        match name {
            "cvParam" | "userParam" => self.param(Param::from(attributes)),
            "referenceableParamGroupRef" => self.apply_group(attributes.get("ref").unwrap_or_default())?,
            "referenceableParamGroup" | "instrumentConfiguration" | "software" => {
                self.id = attributes.get("id").unwrap_or_default().to_owned();
                self.version = attributes.get("version").unwrap_or_default().to_owned();
            }
            "sourceFile" => self.source_file(attributes.get("name").unwrap_or_default()),
            _ => {}
        }
        self.path.push(name.to_owned());
        Ok(())
    }

    fn end(&mut self, name: &str) -> Result<(), String> {
        self.path.pop();
        match name {
            "referenceableParamGroup" => {
                self.context.groups.insert(mem::take(&mut self.id), mem::take(&mut self.group));
            }
            "instrumentConfiguration" => {
                let analyzers = mem::take(&mut self.analyzers);
                let joined = (!analyzers.is_empty()).then(|| analyzers.join(" + "));
                self.context.analyzers.insert(mem::take(&mut self.id), joined);
                let model = self.model.take();
                if self.context.description.instrument.is_none() {
                    self.context.description.instrument = model;
                }
            }
            "software" => {
                let list = &mut self.context.description.software;
                if let Some(software) = self.software.take().filter(|_| list.len() < LIST_LIMIT) {
                    list.push(format!("{software} {}", mem::take(&mut self.version)).trim_end().to_owned());
                }
            }
            _ => {}
        }
        Ok(())
    }
}
