import type { ResolvedValue } from './resolved-value.js'
import { isSecretKey, MASK, maskUrls } from './secrets.js'

/** A value as text, without its secrets. */
export function renderValue(value: ResolvedValue, indentation = ''): string {
  if (value.secret) return JSON.stringify(MASK)
  if (value.kind === 'scalar') return renderScalar(value.value)
  const inner = `${indentation}  `
  if (value.kind === 'list') {
    if (value.items.length === 0) return '[]'
    return `[\n${value.items.map((item) => `${inner}${renderValue(item, inner)}`).join(',\n')}\n${indentation}]`
  }
  if (value.fields.size === 0) return '{}'
  const fields = [...value.fields].map(([key, field]) => {
    const shown = isSecretKey(key) ? JSON.stringify(MASK) : renderValue(field, inner)
    return `${inner}${JSON.stringify(key)}: ${shown}`
  })
  return `{\n${fields.join(',\n')}\n${indentation}}`
}

/** What a value is, for an error; `isSecret` where its path says so. */
export function describeValue(value: ResolvedValue, isSecret: boolean): string {
  if (value.kind === 'list') return 'a list'
  if (value.kind === 'object') return 'an object'
  if (value.value === null) return 'null'
  const kind = `a ${typeof value.value}`
  return isSecret || value.secret
    ? `${kind} that is not shown`
    : `the ${typeof value.value} ${renderScalar(value.value)}`
}

function renderScalar(value: string | number | boolean | null): string {
  if (typeof value === 'string') return JSON.stringify(maskUrls(value))
  // Infinity has no spelling in JSON.
  return String(value)
}
