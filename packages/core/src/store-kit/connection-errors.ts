/** The message of an error of the network. A host with several addresses has an error for each, and no message of its own. */
export function networkMessage(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(networkMessage).join('; ')
  return error instanceof Error ? error.message : String(error)
}

/** Whether no connection was made, so that the request was certainly not sent: nobody listens, or the host is not known. */
export function isUnconnected(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isUnconnected)
  const syscall: unknown = (error as { syscall?: unknown } | null | undefined)?.syscall
  return syscall === 'connect' || syscall === 'getaddrinfo'
}
