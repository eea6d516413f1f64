// The part of d3 5 that BertViz's scripts use: selections, and colours.

const SVG = "http://www.w3.org/2000/svg";

// Elements in groups: one group for each parent that selectAll() started from. A datum lies on its element as __data__,
// and callbacks get (datum, index in the group, group) with the element as `this`.
export class Selection {
  constructor(groups, parents = [], entering = []) {
    this.groups = groups;
    this.parents = parents;
    this.entering = entering; // places of data that have no element yet, after data()
  }

  each(act) {
    for (const group of this.groups) {
      group.forEach((node, i) => node && act.call(node, node.__data__, i, group));
    }
    return this;
  }

  // A new selection with the same groups, holding what `make` returns for each element, which inherits its datum.
  map(make) {
    const made = (node) => {
      const other = node && make(node);
      if (other && "__data__" in node) other.__data__ = node.__data__;
      return other;
    };
    return new Selection(this.groups.map((group) => group.map(made)), this.parents);
  }

  select(selector) {
    return this.map((node) => node.querySelector(selector));
  }

  selectAll(selector) {
    const parents = this.groups.flat().filter(Boolean);
    return new Selection(parents.map((parent) => [...parent.querySelectorAll(selector)]), parents);
  }

  append(name) {
    return this.map((parent) => {
      const svg = name.startsWith("svg") || parent.namespaceURI === SVG;
      const local = name.replace("svg:", "");
      return parent.appendChild(svg ? document.createElementNS(SVG, local) : document.createElement(local));
    });
  }

  remove() {
    return this.each(function () {
      this.remove();
    });
  }

  // Joins data to elements by index. What has no element yet waits in enter(), as something that append() can put an
  // element into.
  data(values) {
    const lists = this.parents.map((parent) => typeof values === "function" ? values(parent.__data__) : values);
    const entering = lists.map((list, g) => {
      this.groups[g].forEach((node, i) => (node.__data__ = list[i]));
      const { namespaceURI } = this.parents[g];
      const appendChild = (child) => this.parents[g].appendChild(child);
      return list.slice(this.groups[g].length).map((__data__) => ({ __data__, namespaceURI, appendChild }));
    });
    return new Selection(this.groups, this.parents, entering);
  }

  enter() {
    return new Selection(this.entering, this.parents);
  }

  // Calls set(element, value) everywhere, the value being a constant or computed for each element.
  assign(value, set) {
    return this.each(function (datum, i, group) {
      set(this, typeof value === "function" ? value.call(this, datum, i, group) : value);
    });
  }

  attr(name, value) {
    return this.assign(value, (node, v) => v === null ? node.removeAttribute(name) : node.setAttribute(name, v));
  }

  style(name, value) {
    return this.assign(value, (node, v) => node.style.setProperty(name, v));
  }

  text(value) {
    return this.assign(value, (node, v) => (node.textContent = v));
  }

  classed(name, value) {
    return this.assign(value, (node, v) => node.classList.toggle(name, v));
  }

  // The handler gets the element's place in its group as it was when on() was called, as in d3 5.
  on(type, handler) {
    return this.each(function (_, i, group) {
      this.addEventListener(type, () => handler.call(this, this.__data__, i, group));
    });
  }
}

// ---- colours -------------------------------------------------------------------------------------------

// "#rrggbb" faded into the page's ground, light or dark.
export function faded(hex, ground = getComputedStyle(document.body).backgroundColor) {
  const behind = ground.match(/[\d.]+/g).map(Number);
  const mixed = [1, 3, 5].map((at, i) => Math.round(0.4 * parseInt(hex.slice(at, at + 2), 16) + 0.6 * behind[i]));
  return `rgb(${mixed.join(", ")})`;
}

// Gives each new value the next colour, and starts again after the last.
export function scaleOrdinal(colours) {
  const seen = new Map();
  return (value) => {
    if (!seen.has(value)) seen.set(value, colours[seen.size % colours.length]);
    return seen.get(value);
  };
}

export const d3 = {
  version: "5, the part that BertViz uses",
  schemeCategory10: [], // set to the colours of the app
  scaleOrdinal,
  hsl: (hex) => ({ l: 0, s: 0, toString: () => faded(hex) }), // asked for a lighter colour, no more
  select: (target) => new Selection([[typeof target === "string" ? document.querySelector(target) : target]]),
};
