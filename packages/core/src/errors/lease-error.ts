/** The stable, machine-readable name of a kind of failure. Each class that extends {@link LeaseError} has one code. */
export type LeaseErrorCode =
  | 'held'
  | 'timeout'
  | 'unavailable'
  | 'unauthorised'
  | 'lost'
  | 'conflict'
  | 'configuration'
  | 'name'
  | 'unfit'

import { shownLines, shownText } from './shown-value.js'

/** The lease that an error is about, as far as it is known, and the cause. */
export interface LeaseErrorDetails {
  readonly leaseName?: string
  readonly owner?: string
  /** The kind of store, such as `memory` or `local`. */
  readonly store?: string
  readonly cause?: unknown
}

/** In the global registry, so that all copies of this package share it. */
const BRAND = Symbol.for('@leasehold/core/LeaseError')

/**
 * The base of every error that this library throws or rejects with; `code` identifies the kind.
 *
 * `instanceof` also recognises the errors of another copy of this package: a process can have two, if its dependencies
 * need different versions.
 */
export abstract class LeaseError extends Error {
  static {
    Object.defineProperty(LeaseError, Symbol.hasInstance, { value: isInstance })
  }

  abstract override readonly name: string
  abstract readonly code: LeaseErrorCode
  readonly leaseName: string | undefined
  readonly owner: string | undefined
  readonly store: string | undefined

  /** Control characters in the message are escaped; a new line is kept, unless it stands in the name or the owner. */
  constructor(message: string, details: LeaseErrorDetails = {}) {
    super(shownMessage(message, details), details.cause === undefined ? undefined : { cause: details.cause })
    this.leaseName = details.leaseName
    this.owner = details.owner
    this.store = details.store
  }

  /** @internal */
  get [BRAND](): true {
    return true
  }
}

/** Whether the call certainly had no effect, and repeating it is of no use. */
export function isDefinitive(error: unknown): error is LeaseError {
  return error instanceof LeaseError && error.code !== 'timeout' && error.code !== 'unavailable'
}

function shownMessage(message: string, { leaseName, owner }: LeaseErrorDetails): string {
  let shown = message
  for (const text of [leaseName, owner] as readonly unknown[]) {
    // In JavaScript, the arguments of a maker may be in the wrong order.
    if (typeof text === 'string' && text.includes('\n')) shown = shown.replaceAll(text, shownText(text))
  }
  return shownLines(shown)
}

/** The `instanceof` of `LeaseError` and of the classes that extend it. */
function isInstance(this: { readonly name: string }, value: unknown): boolean {
  if (Function.prototype[Symbol.hasInstance].call(this, value)) return true
  if (typeof value !== 'object' || value === null || !(BRAND in value)) return false
  return this === LeaseError || (value as Partial<LeaseError>).name === this.name
}
