/** The numbers by which JetStream names its errors: `err_code` in an answer. */
export const errorCodes = {
  noMessage: 10_037,
  streamMissing: 10_059,
  streamExists: 10_058,
  notEnabledForAccount: 10_039,
  notEnabled: 10_076,
  wrongSequence: 10_071,
  /** The same without the sequence, where another write is under way. */
  wrongSequenceUnknown: 10_164,
  noReplicas: 10_074,
  noPeers: 10_005,
  tooLarge: 10_054,
} as const

/** JetStream answered, and refused the request: nothing was done. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly errorCode: number

  constructor({ code = 0, err_code = 0, description = 'no description' }: ApiFault) {
    super(`JetStream answered ${code}: ${description} (${err_code})`)
    this.status = code
    this.errorCode = err_code
  }
}

/** The error in an answer. */
export interface ApiFault {
  readonly code?: number
  readonly err_code?: number
  readonly description?: string
}

/** Whether JetStream refused the request with one of these errors. */
export function isRefusal(error: unknown, ...codes: readonly (keyof typeof errorCodes)[]): error is ApiError {
  return error instanceof ApiError && codes.some((code) => errorCodes[code] === error.errorCode)
}
