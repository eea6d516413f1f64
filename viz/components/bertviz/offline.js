// What BertViz's head_view.js and model_view.js ask of require.js, d3 5 and jQuery, and nothing more, so that
// they run unchanged without a network. Also unpacks the attention that Python wrote into the document.
"use strict";

(() => {
  const SVG = "http://www.w3.org/2000/svg";

  // ---- d3: selections ------------------------------------------------------------------------------------

  // A datum that has no element yet; append() puts one under its parent.
  class Entering {
    constructor(parent, datum) {
      this.parent = parent;
      this.__data__ = datum;
    }
  }

  // Elements in groups: one group for each parent that selectAll() started from. A datum lies on its element
  // as __data__, and callbacks get (datum, index in the group, group) with the element as `this`.
  class Selection {
    constructor(groups, parents) {
      this.groups = groups;
      this.parents = parents;
    }

    each(act) {
      for (const group of this.groups) {
        for (let i = 0; i < group.length; i++) {
          if (group[i]) act.call(group[i], group[i].__data__, i, group);
        }
      }
      return this;
    }

    // One new selection with the same groups, holding what `make` returns for each element.
    map(make) {
      return new Selection(
        this.groups.map((group) =>
          Array.from(group, (node, i) => {
            const made = node && make.call(node, node.__data__, i, group);
            if (made && "__data__" in node) made.__data__ = node.__data__;
            return made;
          }),
        ),
        this.parents,
      );
    }

    select(selector) {
      return this.map(function () {
        return this.querySelector(selector);
      });
    }

    selectAll(selector) {
      const groups = [];
      const parents = [];
      this.each(function () {
        groups.push(this.querySelectorAll(selector));
        parents.push(this);
      });
      return new Selection(groups, parents);
    }

    append(name) {
      const local = name.replace("svg:", "");
      return this.map(function () {
        const parent = this instanceof Entering ? this.parent : this;
        const svg = name.startsWith("svg") || parent.namespaceURI === SVG;
        return parent.appendChild(svg ? document.createElementNS(SVG, local) : document.createElement(local));
      });
    }

    remove() {
      return this.each(function () {
        this.remove();
      });
    }

    // Joins data to elements by index; what has no element yet waits in enter().
    data(values) {
      const entering = [];
      const update = this.groups.map((group, g) => {
        const parent = this.parents[g];
        const list = typeof values === "function" ? values.call(parent, parent.__data__, g, this.parents) : values;
        const kept = new Array(list.length);
        const fresh = new Array(list.length);
        for (let i = 0; i < list.length; i++) {
          if (group[i]) {
            kept[i] = group[i];
            kept[i].__data__ = list[i];
          } else {
            fresh[i] = new Entering(parent, list[i]);
          }
        }
        entering.push(fresh);
        return kept;
      });
      const joined = new Selection(update, this.parents);
      joined.enter = () => new Selection(entering, this.parents);
      return joined;
    }

    // Calls set(element, value) everywhere, the value being a constant or computed for each element.
    assign(value, set) {
      return this.each(function (datum, i, group) {
        set(this, typeof value === "function" ? value.call(this, datum, i, group) : value);
      });
    }

    attr(name, value) {
      return this.assign(value, (node, v) => (v == null ? node.removeAttribute(name) : node.setAttribute(name, v)));
    }

    style(name, value) {
      return this.assign(value, (node, v) =>
        v == null ? node.style.removeProperty(name) : node.style.setProperty(name, v),
      );
    }

    text(value) {
      return this.assign(value, (node, v) => (node.textContent = v ?? ""));
    }

    classed(name, value) {
      return this.assign(value, (node, v) => node.classList.toggle(name, Boolean(v)));
    }

    // The handler gets the element's place in its group as it was when on() was called, as in d3 5.
    on(type, handler) {
      return this.each(function (_, i, group) {
        this.addEventListener(type, () => handler.call(this, this.__data__, i, group));
      });
    }
  }

  // ---- d3: colours ---------------------------------------------------------------------------------------

  const CATEGORY_10 = [
    "#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd",
    "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf",
  ];

  // Hue in degrees, saturation and lightness in 0..1 of "#rrggbb"; may be changed, and printed as rgb().
  class Hsl {
    constructor(hex) {
      const [r, g, b] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255);
      const high = Math.max(r, g, b);
      const low = Math.min(r, g, b);
      const spread = high - low;
      this.l = (high + low) / 2;
      this.s = spread === 0 ? 0 : spread / (1 - Math.abs(2 * this.l - 1));
      if (spread === 0) this.h = NaN; // a grey has no hue, and stays grey whatever is done to its saturation
      else if (high === r) this.h = 60 * (((g - b) / spread + 6) % 6);
      else this.h = 60 * (high === g ? (b - r) / spread + 2 : (r - g) / spread + 4);
    }

    toString() {
      const grey = Number.isNaN(this.h);
      const reach = grey ? 0 : this.s * Math.min(this.l, 1 - this.l);
      const channel = (n) => {
        const k = grey ? 0 : (n + this.h / 30) % 12;
        const value = this.l - reach * Math.max(-1, Math.min(k - 3, 9 - k, 1));
        return Math.max(0, Math.min(255, Math.round(value * 255)));
      };
      return `rgb(${channel(0)}, ${channel(8)}, ${channel(4)})`;
    }
  }

  // Gives each new value the next colour, and starts again after the last.
  function scaleOrdinal(colours) {
    const seen = new Map();
    return (value) => {
      if (!seen.has(value)) seen.set(value, colours[seen.size % colours.length]);
      return seen.get(value);
    };
  }

  const d3 = {
    version: "5, the part that BertViz uses",
    schemeCategory10: CATEGORY_10,
    scaleOrdinal,
    hsl: (hex) => new Hsl(hex),
    select: (target) =>
      new Selection(
        [[typeof target === "string" ? document.querySelector(target) : target]],
        [document.documentElement],
      ),
  };

  // ---- jQuery --------------------------------------------------------------------------------------------

  class Query {
    constructor(elements) {
      this.elements = elements;
    }

    each(act) {
      this.elements.forEach(act);
      return this;
    }

    append(other) {
      return this.each((element) => element.append(...other.elements));
    }

    empty() {
      return this.each((element) => element.replaceChildren());
    }

    attr(name, value) {
      return this.each((element) => element.setAttribute(name, value));
    }

    val(value) {
      return this.each((element) => (element.value = value));
    }

    text(value) {
      return this.each((element) => (element.textContent = value));
    }

    on(type, handler) {
      return this.each((element) => element.addEventListener(type, handler));
    }

    change() {
      return this.each((element) => element.dispatchEvent(new Event("change")));
    }
  }

  // A selector, or a single empty tag such as "<option />".
  function jquery(what) {
    const tag = /^<(\w+)/.exec(what);
    return new Query(tag ? [document.createElement(tag[1])] : [...document.querySelectorAll(what)]);
  }

  // ---- require.js ----------------------------------------------------------------------------------------

  const modules = { d3, jquery };
  window.require = { config() {} };
  window.requirejs = (names, use) => use(...names.map((name) => modules[name]));

  // ---- the attention -------------------------------------------------------------------------------------

  // Weights travel as base64 of 16-bit integers, weight · 65535, in the order layer, head, query, key.
  function weights({ packed, shape }) {
    const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
    const flat = new Uint16Array(bytes.buffer);
    const [layers, heads, n] = shape;
    const times = (count, make) => Array.from({ length: count }, (_, i) => make(i));
    return times(layers, (layer) =>
      times(heads, (head) =>
        times(n, (query) => {
          const start = ((layer * heads + head) * n + query) * n;
          return Array.from(flat.subarray(start, start + n), (value) => value / 65535);
        }),
      ),
    );
  }

  // The parameters that BertViz's own Python writes into its scripts.
  function bertvizParams() {
    const { attention, tokens, filters, ...rest } = JSON.parse(document.getElementById("bertviz-data").textContent);
    const all = weights(attention);
    return {
      ...rest,
      attention: filters.map(({ name, left, right }) => ({
        name,
        attn: all.map((layer) => layer.map((head) => head.slice(...left).map((row) => row.slice(...right)))),
        left_text: tokens.slice(...left),
        right_text: tokens.slice(...right),
      })),
    };
  }
  window.bertvizParams = bertvizParams;
})();
