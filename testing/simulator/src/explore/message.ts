/** The kinds of messages. Those below `ANSWERS` are requests to the store. */
export const ACQUIRE = 1
export const RENEW = 2
export const RELEASE = 3
export const READ = 4
export const WITHDRAW = 5
export const FETCH = 6
export const REPLACE = 7
const ANSWERS = 8
export const GRANTED = 8
export const REFUSED = 9
export const RENEWED = 10
export const NOT_RENEWED = 11
export const RELEASED = 12
export const RECORD = 13
export const ENTRY = 14
export const WRITTEN = 15
export const CONFLICT = 16

/** The grant id of another client, where only that matters. */
export const FOREIGN = '-'

/** A message between a client and the store. Fields that its kind does not need are 0 or empty. */
export interface Message {
  readonly kind: number
  /** The number of the call for which it was sent; 0 if no call waits for it, so that its answer is not sent. */
  readonly op: number
  readonly grantId: string
  readonly token: number
  /** Of the entry of a register. */
  readonly version: number
  /** `ACQUIRE`: whether queued. `NOT_RENEWED`: the reason. `RELEASED`, `RECORD`, `ENTRY`, `REPLACE`: see there. */
  readonly detail: number
}

const words = [
  '',
  'acquire',
  'renew',
  'release',
  'read',
  'withdraw',
  'read the entry',
  'replace the entry',
  'granted',
  'refused',
  'renewed',
  'not renewed',
  'release answered',
  'record',
  'entry',
  'written',
  'another was faster',
] as const

/** A message in words. */
export function messageText({ kind, grantId, token }: Message): string {
  const of = grantId === '' ? '' : ` ${grantId === FOREIGN ? "of another's grant" : grantId}`
  return `${words[kind]}${of}${token === 0 ? '' : ` (token ${token})`}`
}

export function isRequest({ kind }: Message): boolean {
  return kind < ANSWERS
}
