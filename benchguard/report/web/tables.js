"use strict";
/* Sorting and filtering of tables. Without this script the tables are whole. */
(() => {
  const FILTER_ROWS = 12;

  function keyOf(row, column) {
    const cell = row.cells[column];
    return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
  }

  function sort(table, column, header) {
    const descending = header.getAttribute("aria-sort") !== "descending" && header.classList.contains("number")
      || header.getAttribute("aria-sort") === "ascending";
    const rows = Array.from(table.tBodies[0].rows);
    rows.sort((one, two) => {
      const [a, b] = [keyOf(one, column), keyOf(two, column)];
      const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
      return descending ? -order : order;
    });
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", descending ? "descending" : "ascending");
    table.tBodies[0].append(...rows);
  }

  for (const table of document.querySelectorAll("table.sortable")) {
    Array.from(table.tHead.rows[0].cells).forEach((header, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = header.textContent;
      button.addEventListener("click", () => sort(table, column, header));
      header.replaceChildren(button);
    });
    if (table.tBodies[0].rows.length < FILTER_ROWS) continue;
    const label = document.createElement("label");
    const input = document.createElement("input");
    label.className = "filter";
    label.textContent = "Filter rows";
    input.type = "search";
    input.addEventListener("input", () => {
      const word = input.value.toLowerCase();
      for (const row of table.tBodies[0].rows) row.hidden = !row.textContent.toLowerCase().includes(word);
    });
    label.append(input);
    table.parentElement.before(label);
  }
})();
