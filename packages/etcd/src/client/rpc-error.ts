/** An error of gRPC, as far as it is read here: the status and the text of the server. */
export interface RpcError extends Error {
  readonly code: number
  readonly details: string
}

export function isRpcError(error: unknown): error is RpcError {
  return error instanceof Error && typeof (error as Partial<RpcError>).code === 'number' && 'details' in error
}

/** Statuses after which another member may answer: the request may or may not have been executed. */
const TRANSIENT: readonly number[] = [1, 2, 4, 13, 14]

/** Whether another member may answer the request. */
export function isTransient(error: unknown): boolean {
  return !isRpcError(error) || TRANSIENT.includes(error.code)
}

/** Whether the token of the user has expired, or was made before a change of users. */
export function isOldToken(error: unknown): boolean {
  return isRpcError(error) && /invalid auth token|revision of auth store is old/.test(error.details)
}

/** Whether the server lease of the request is gone. */
export function isLeaseGone(error: unknown): boolean {
  return isRpcError(error) && error.details.includes('requested lease not found')
}

/** Whether the database is full, so that the server takes no new data. */
export function isNoSpace(error: unknown): boolean {
  return isRpcError(error) && error.details.includes('database space exceeded')
}
