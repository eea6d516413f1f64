// Which cells are picked. Clicks are faster than answers: the page is told of all that is picked, each time with a higher
// serial number, and what it says of a time before the last click is not listened to.

import { idOf } from "./words.js";

export class Picks {
  constructor() {
    this.cells = []; // [row, column] each, in the order of picking
    this.serial = 0; // of the last click
  }

  // What the page says is picked, and the serial number of the last click that it knows of.
  take(cells, known) {
    if (known < this.serial) return;
    this.cells = cells;
    this.serial = known;
  }

  // Picks a cell or lets it go; returns what the page has to be told.
  toggle({ row, column }) {
    const others = this.cells.filter((cell) => cell[0] !== row || cell[1] !== column);
    this.cells = others.length < this.cells.length ? others : [...others, [row, column]];
    return { serial: ++this.serial, cells: this.cells };
  }

  get ids() {
    return new Set(this.cells.map(([row, column]) => idOf({ row, column })));
  }
}
