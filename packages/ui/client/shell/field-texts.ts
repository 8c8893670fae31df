/**
 * What stands in the fields of a form now, by their names. Handlers of a part know what was drawn last: a reader who types and
 * presses Enter within one frame is faster than that.
 */
export function fieldTexts(form: HTMLFormElement): (name: string) => string {
  const data = new FormData(form)
  return (name) => {
    const value = data.get(name)
    return typeof value === 'string' ? value.trim() : ''
  }
}
