// What a view tells Python and what Python asks of it. What Python asks for counts only when it is news: not when it
// repeats what it said before, and not when it echoes an action made here.

import { same } from "./tokens.js";

const LONGEST = 8; // reports that are waited for

export class Reports {
  constructor() {
    this.pending = { selected: [], off: [] }; // sent and not yet seen coming back
    this.report = (_field, _value) => {}; // Streamlit's, set at every run
  }

  tell(field, value) {
    this.pending[field].push(value);
    if (this.pending[field].length > LONGEST) this.pending[field].shift();
    this.report(field, value);
  }

  isNews(field, requested, before) {
    const echo = this.pending[field].findIndex((sent) => same(sent, requested));
    this.pending[field].splice(0, echo + 1);
    const news = echo < 0 && !same(requested, before);
    if (news) this.pending[field] = [];
    return news;
  }
}
