import { type ResolvedValue, toPlain } from './resolved-value.js'
import { isSecretKey, MASK, maskUrls } from './secrets.js'

/** A value as plain data, without its secrets. */
export function withoutSecrets(value: ResolvedValue): unknown {
  return toPlain(value, (one, key) => {
    if (one.secret || (key !== undefined && isSecretKey(key))) return MASK
    return one.kind === 'scalar' && typeof one.value === 'string' ? maskUrls(one.value) : undefined
  })
}

/** What a value is, for an error; `isSecret` where its path says so. */
export function describeValue(value: ResolvedValue, isSecret: boolean): string {
  if (value.kind === 'list') return 'a list'
  if (value.kind === 'object') return 'an object'
  if (value.value === null) return 'null'
  const kind = `a ${typeof value.value}`
  return isSecret || value.secret
    ? `${kind} that is not shown`
    : `the ${typeof value.value} ${JSON.stringify(withoutSecrets(value))}`
}
