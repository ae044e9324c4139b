"use strict";
/* Charts. Text of the log reaches the page by textContent alone, or escaped, because Plotly reads markup in labels. */
(() => {
  const DATA = JSON.parse(document.getElementById("data").textContent);
  const SHOWN = { displayModeBar: false, responsive: true, scrollZoom: false, showTips: false, doubleClick: "reset" };
  const MARGIN = { l: 12, r: 16, t: 10, b: 34 };
  const ROW = 26;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const charts = [];

  function color(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  }

  function plain(text) {
    return String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  }

  function cut(text, most) {
    return text.length > most ? `${text.slice(0, most - 1)}…` : text;
  }

  function time(nanoseconds) {
    for (const [unit, scale] of [["ns", 1], ["us", 1e3], ["ms", 1e6]])
      if (Math.abs(nanoseconds) < 999.5 * scale) return `${Number((nanoseconds / scale).toPrecision(4))} ${unit}`;
    return `${(nanoseconds / 1e9).toFixed(3)} s`;
  }

  function size(bytes) {
    const units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let power = 0;
    while (bytes >= 10240 && power < units.length - 1) { bytes /= 1024; power += 1; }
    return `${Number(bytes.toPrecision(4))} ${units[power]}`;
  }

  function axis(extra) {
    return {
      gridcolor: color("line"), linecolor: color("line"), zerolinecolor: color("line"), color: color("soft"),
      automargin: false, ...extra,
    };
  }

  function timeAxis(range) {
    return axis({ range, ticksuffix: "s", exponentformat: "SI", minexponent: 0, showexponent: "all", hoverformat: ".6s" });
  }

  function layout(extra) {
    return {
      paper_bgcolor: color("background"), plot_bgcolor: color("background"), showlegend: false, hovermode: false,
      dragmode: "zoom", font: { family: "system-ui, sans-serif", size: 12, color: color("text") }, margin: MARGIN, ...extra,
    };
  }

  /* A chart has build() -> {traces, layout}, names of its traces with colors, and at(x, y) -> text. */
  function timeline(chart) {
    const lanes = chart.lanes;
    const width = Math.min(260, 16 + 7.2 * Math.max(...lanes.map((lane) => lane.length)));
    const groups = chart.groups.map((group, index) => ({ ...group, x: [], y: [], index }));
    const boxes = chart.boxes;
    boxes.begin.forEach((begin, at) => {
      const group = groups[boxes.group[at]];
      const [left, right, lane] = [begin / 1e9, boxes.end[at] / 1e9, boxes.lane[at]];
      group.x.push(left, right, right, left, left, null);
      group.y.push(lane - 0.36, lane - 0.36, lane + 0.36, lane + 0.36, lane - 0.36, null);
    });
    const rows = lanes.map((_, lane) => boxes.begin.map((_, at) => at).filter((at) => boxes.lane[at] === lane));
    return {
      names: groups,
      range: [chart.range[0] / 1e9, chart.range[1] / 1e9],
      height: MARGIN.t + MARGIN.b + ROW * lanes.length,
      margin: { ...MARGIN, l: width },
      traces: () => groups.map((group) => ({
        type: "scatter", mode: "lines", x: group.x, y: group.y, fill: "toself", fillcolor: group.color,
        line: { width: 1, color: group.color, simplify: false }, hoverinfo: "skip", name: "",
      })),
      axes: (range) => ({
        xaxis: timeAxis(range),
        yaxis: axis({
          range: [lanes.length - 0.5, -0.5], fixedrange: true, tickvals: lanes.map((_, lane) => lane),
          ticktext: lanes.map((lane) => plain(cut(lane, 38))), showgrid: false, zeroline: false,
        }),
      }),
      at(x, y, near) {
        const row = rows[Math.round(y)] || [];
        let best = -1, distance = near;
        for (const at of row) {
          const away = Math.max(boxes.begin[at] / 1e9 - x, x - boxes.end[at] / 1e9, 0);
          if (away <= distance) { best = at; distance = away; }
        }
        return best < 0 ? "" : describe(chart, best);
      },
      step(index, by) {
        const next = (index + by + boxes.begin.length) % boxes.begin.length;
        return { index: next, text: describe(chart, next), x: boxes.begin[next] / 1e9 };
      },
    };
  }

  function describe(chart, at) {
    const boxes = chart.boxes;
    const [begin, end, count, failed] = [boxes.begin[at], boxes.end[at], boxes.count[at], boxes.failed[at]];
    const names = boxes.names[at].map(([name, times]) =>
      count > 1 ? `${times} × ${chart.names[name]}` : chart.names[name]);
    const unnamed = count - boxes.names[at].reduce((sum, [, times]) => sum + times, 0);
    if (unnamed > 0) names.push(`${unnamed} others`);
    const where = `${chart.lanes[boxes.lane[at]]}, from ${time(begin)}, ${time(end - begin)} long`;
    return `${names.join(", ")}: ${where}${failed ? `; ${failed} failed` : ""}`;
  }

  function lines(chart) {
    const shown = chart.unit ? (value) => `${value} ${chart.unit}` : size;
    return {
      names: chart.curves.map((curve) => ({ name: curve.name, color: curve.color })),
      range: [chart.range[0] / 1e9, chart.range[1] / 1e9],
      height: 260,
      margin: { ...MARGIN, l: 66 },
      traces: () => chart.curves.map((curve) => ({
        type: "scatter", mode: "lines", line: { shape: "hv", width: 1.5, color: curve.color, simplify: false },
        x: curve.time.map((each) => each / 1e9), y: curve.bytes, hoverinfo: "skip", name: "",
      })),
      axes: (range) => ({
        xaxis: timeAxis(range),
        yaxis: axis({ tickvals: chart.ticks, ticktext: chart.ticks.map(shown), rangemode: "tozero", fixedrange: true }),
      }),
      at(x) {
        const parts = chart.curves.map((curve) => {
          let at = -1;
          while (at + 1 < curve.time.length && curve.time[at + 1] / 1e9 <= x) at += 1;
          return `${curve.name}: ${shown(at < 0 ? 0 : curve.bytes[at])}`;
        });
        return `at ${time(x * 1e9)}: ${parts.join(", ")}`;
      },
    };
  }

  function samples(chart) {
    return {
      names: chart.series.map((series) => ({ name: series.name, color: series.color })),
      range: chart.range,
      height: MARGIN.t + MARGIN.b + 18 + 54 * chart.series.length,
      margin: { ...MARGIN, l: 110, b: 46 },
      traces: () => chart.series.map((series, index) => ({
        type: "box", orientation: "h", x: series.values, y0: index, name: "", boxpoints: "all", jitter: 0.6, pointpos: 0,
        marker: { size: 3, color: series.color }, line: { width: 1, color: series.color }, hoverinfo: "skip",
        fillcolor: "rgba(0,0,0,0)",
      })),
      axes: (range) => ({
        xaxis: axis({ range, tickformat: ",~g", title: { text: plain(chart.unit), standoff: 6 } }),
        yaxis: axis({
          tickvals: chart.series.map((_, index) => index), range: [chart.series.length - 0.5, -0.5], fixedrange: true,
          ticktext: chart.series.map((series) => plain(cut(series.name, 16))), showgrid: false, zeroline: false,
        }),
      }),
      at: (x, y) => {
        const series = chart.series[Math.round(y)];
        return series === undefined ? "" : `${series.name}: ${series.text}`;
      },
    };
  }

  const KINDS = { timeline, lines, samples };

  class Chart {
    constructor(figure, data) {
      this.figure = figure;
      this.data = data;
      this.plot = figure.querySelector(".plot");
      this.detail = figure.querySelector(".detail");
      this.model = KINDS[data.kind](data);
      this.hidden = new Set();
      this.index = -1;
      this.range = this.model.range;
    }

    draw() {
      const { traces, axes, height, margin } = this.model;
      const visible = traces().map((trace, at) => ({ ...trace, visible: !this.hidden.has(at) }));
      Plotly.react(this.plot, visible, layout({ height, margin, ...axes(this.range) }), SHOWN);
    }

    start() {
      this.draw();
      this.figure.querySelector(".controls").hidden = false;
      this.model.names.forEach((each, at) => this.legend(each, at));
      this.plot.on("plotly_relayout", (change) => {
        if (change["xaxis.range[0]"] !== undefined)
          this.moved([change["xaxis.range[0]"], change["xaxis.range[1]"]]);
        else if (change["xaxis.autorange"]) this.show(this.model.range);
      });
      this.plot.addEventListener("mousemove", (event) => this.point(event));
      this.plot.addEventListener("keydown", (event) => this.key(event));
      for (const button of this.figure.querySelectorAll("[data-act]"))
        button.addEventListener("click", () => this.act(button.dataset.act));
      this.detail.textContent = this.data.hint;
    }

    legend({ name, color: shade }, at) {
      const label = document.createElement("label");
      const box = document.createElement("input");
      const swatch = document.createElement("span");
      const text = document.createElement("span");
      box.type = "checkbox";
      box.checked = true;
      box.addEventListener("change", () => {
        if (box.checked) this.hidden.delete(at); else this.hidden.add(at);
        this.draw();
      });
      swatch.className = "swatch";
      swatch.style.background = shade;
      text.className = "name";
      text.textContent = name;
      text.title = name;
      label.append(box, swatch, text);
      this.figure.querySelector(".legend").append(label);
    }

    /* Show a range of x, in this chart and in those with the same axis. */
    show(range) {
      this.moved(range);
      this.draw();
    }

    moved(range) {
      this.range = range;
      for (const other of charts) {
        const linked = other !== this && this.data.axis && other.data.axis === this.data.axis;
        if (linked && (other.range[0] !== range[0] || other.range[1] !== range[1])) {
          other.range = range;
          other.draw();
        }
      }
    }

    act(name) {
      const [low, high] = this.range;
      const [middle, half] = [(low + high) / 2, (high - low) / 2];
      const step = { left: -half / 2, right: half / 2 }[name];
      if (name === "in") this.show([middle - half / 2, middle + half / 2]);
      else if (name === "out") this.show([middle - half * 2, middle + half * 2]);
      else if (name === "all") this.show(this.model.range);
      else this.show([low + step, high + step]);
    }

    key(event) {
      const act = { "+": "in", "=": "in", "-": "out", ArrowLeft: "left", ArrowRight: "right", 0: "all" }[event.key];
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (act) this.act(act);
      else if ((event.key === "n" || event.key === "p") && this.model.step) this.walk(event.key === "n" ? 1 : -1);
      else return;
      event.preventDefault();
    }

    walk(by) {
      const from = this.index < 0 && by < 0 ? 0 : this.index;
      const { index, text, x } = this.model.step(from, by);
      const [low, high] = this.range;
      this.index = index;
      this.detail.textContent = text;
      if (x < low || x > high) this.show([x - (high - low) / 2, x + (high - low) / 2]);
    }

    point(event) {
      const box = this.plot.getBoundingClientRect();
      const { margin, height } = this.model;
      const inner = [box.width - margin.l - margin.r, height - margin.t - margin.b];
      const [across, down] = [(event.clientX - box.left - margin.l) / inner[0], (event.clientY - box.top - margin.t) / inner[1]];
      if (across < 0 || across > 1 || down < 0 || down > 1) return;
      const [low, high] = this.range;
      const rows = (this.data.lanes || this.data.series || [0]).length;
      const text = this.model.at(low + across * (high - low), down * rows - 0.5, (4 / inner[0]) * (high - low));
      if (text) this.detail.textContent = text;
    }
  }

  for (const figure of document.querySelectorAll(".chart")) {
    const data = DATA[figure.dataset.chart];
    if (data) charts.push(new Chart(figure, data));
  }
  for (const chart of charts)  /* charts with the same axis begin at the same place */
    chart.model.margin.l = Math.max(...charts.filter((other) => other === chart || (chart.data.axis && other.data.axis === chart.data.axis))
      .map((other) => other.model.margin.l));
  for (const chart of charts) chart.start();
  dark.addEventListener("change", () => charts.forEach((chart) => chart.draw()));
  document.documentElement.dataset.charts = String(charts.length);
})();
