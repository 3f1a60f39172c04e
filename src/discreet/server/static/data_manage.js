// A data set after its first day: other declarations, another name, a new file, or an end.
import { call } from "./api.js";
import { startBounds } from "./data_bounds.js";
import { ColumnForm } from "./data_columns.js";
import { element, sayProblem, tried } from "./dom.js";
import { sendFile } from "./upload.js";

class ManageForm {
  constructor(box) {
    this.box = box;
    this.path = `/data/datasets/${encodeURIComponent(box.dataset.dataset)}`;
    this.problem = box.querySelector(".manage-problem");
    this.part = (name) => box.querySelector(`.${name}`);
    this.part("rename").addEventListener("click", () => this.change("PUT", "/name", { name: this.part("new-name").value.trim() }));
    this.part("refresh").addEventListener("click", () => this.refresh());
    this.part("new-version").addEventListener("click", () => tried(this.problem, async () => {
      await call("POST", "/data/versions", { dataset: box.dataset.dataset });
      window.location.reload();
    }));
    this.part("drop").addEventListener("change", () => { this.part("remove").disabled = !this.part("drop").checked; });
    this.part("remove").addEventListener("click", () => this.change("DELETE", ""));
    this.part("edit").addEventListener("click", () => tried(this.problem, () => this.edit()));
    this.part("save").addEventListener("click", () => this.save());
  }

  change(method, path, body) {
    return tried(this.problem, async () => {
      await call(method, `${this.path}${path}`, body);
      window.location.reload();
    });
  }

  async refresh() {
    const [file] = this.part("new-file").files;
    if (!file) {
      sayProblem(this.problem, { message: "Choose a file first.", hint: "" });
      return;
    }
    await tried(this.problem, async () => {
      const { id } = await sendFile("/data/uploads", file, () => {});
      await this.change("PUT", "/file", { upload: id });
    });
  }

  async edit() {
    this.facts = await call("GET", `${this.path}/columns`);
    this.columns = this.facts.columns.map((column) => new ColumnForm(column, () => this.look()));
    for (const column of this.columns) if (!column.verdict) column.decide("public");
    this.before = new Map(this.columns.map((column) => [column, JSON.stringify(column.declared())]));
    this.part("declared").replaceChildren(...this.columns.map(({ node }) => node));
    this.part("save").hidden = false;
    await this.look();
  }

  // What the declarations as they stand lose of the file; only the owner sees it.
  async look() {
    if (!this.facts.upload) return;
    const drafted = Object.fromEntries(this.columns.map((column) => [column.proposed.name, column.declared()]));
    await tried(this.problem, async () => {
      const seen = await call("POST", `/data/uploads/${this.facts.upload}/losses`, { unit: this.facts.unit, columns: drafted });
      const byName = new Map(seen.columns.map((column) => [column.name, column]));
      for (const column of this.columns) column.sayLoss(byName.get(column.proposed.name));
      sayProblem(this.problem, null);
    });
  }

  async save() {
    const changed = this.columns.filter((column) => JSON.stringify(column.declared()) !== this.before.get(column));
    if (!changed.length) {
      this.part("declared").replaceChildren(element("p", { class: "quiet" }, "Nothing was changed."));
      this.part("save").hidden = true;
      return;
    }
    const columns = Object.fromEntries(changed.map((column) => [column.proposed.name, column.declared()]));
    await this.change("PUT", "/columns", { columns });
  }
}

export function startManage() {
  for (const box of document.querySelectorAll(".manage")) new ManageForm(box);
  startBounds();
}
