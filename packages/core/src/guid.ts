import { shownValue } from './shown-value.js'

const guid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export function isGuid(value: unknown): value is string {
  return typeof value === 'string' && guid.test(value)
}

export function faultOfGuid(value: unknown): string {
  return `the grant id must be a GUID, as crypto.randomUUID() makes it, not ${shownValue(value)}`
}
