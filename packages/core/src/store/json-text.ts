/** The value of a JSON text that another program may have written; `undefined` if the text is not JSON. */
export function parsedJSON(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
