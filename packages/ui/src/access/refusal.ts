import { LeaseError, type LeaseErrorCode } from '@leasehold/core'
import type { ErrorBody } from '../protocol.js'

/** A request that is refused: the status, and the body that says what to do. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly status: number
  readonly body: ErrorBody
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message)
    this.status = status
    this.body = { code, message }
    this.headers = headers
  }
}

const statuses: Readonly<Record<LeaseErrorCode, number>> = {
  name: 400,
  configuration: 400,
  held: 409,
  conflict: 409,
  lost: 409,
  timeout: 503,
  unavailable: 503,
  unauthorised: 503,
  unfit: 503,
}

/** The refusal for an error of a store or a recipe; `undefined` if it is an error of the program. */
export function refusalOf(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error
  if (!(error instanceof LeaseError)) return undefined
  return new Refusal(statuses[error.code] ?? 500, error.code, error.message)
}

export function notFound(): Refusal {
  return new Refusal(404, 'not-found', 'there is nothing at this address: open the page again')
}
