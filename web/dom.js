// @ts-check
/** Small helpers for making elements. */

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {string} className
 * @param {...(string | Node)} children text goes in as text, never as markup
 * @returns {HTMLElementTagNameMap[K]}
 */
export function make(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

/**
 * @template {HTMLElement} [T=HTMLElement]
 * @param {string} id
 * @returns {T}
 */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`no element #${id}`);
  return /** @type {T} */ (element);
}

/** A button that does one thing. @param {string} label @param {string} className @param {() => void} run */
export function button(label, className, run) {
  const element = make("button", className, label);
  element.type = "button";
  element.addEventListener("click", run);
  return element;
}
