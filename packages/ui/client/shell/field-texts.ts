/**
 * Reads the fields of a form by their names, at the moment of the call. The state of a component is one frame old: if the reader
 * types and presses Enter within that frame, it lacks the last letter.
 */
export function fieldTexts(form: HTMLFormElement): (name: string) => string {
  const data = new FormData(form)
  return (name) => {
    const value = data.get(name)
    return typeof value === 'string' ? value.trim() : ''
  }
}
