// Steps from head to head. A reader may step again before the server has answered, so the head that is asked for is
// counted from the last one asked for, and the answers that are overtaken are no news.

export class Steps {
  constructor() {
    this.asked = []; // and not yet seen coming back
    this.shown = null;
    this.of = 1;
  }

  take(head, of) {
    const news = head !== this.shown || of !== this.of;
    const answered = this.asked.lastIndexOf(head);
    if (answered >= 0) this.asked = this.asked.slice(answered + 1);
    else if (news) this.asked = []; // it was chosen elsewhere
    [this.shown, this.of] = [head, of];
  }

  // The head so many steps on, after the last one the first.
  go(step) {
    const head = ((this.asked.at(-1) ?? this.shown) + step + this.of) % this.of;
    this.asked.push(head);
    return head;
  }
}
