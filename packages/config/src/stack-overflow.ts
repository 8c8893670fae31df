/** Whether an error says that the stack is used up: a limit that was set too high for the thread. */
export function isStackOverflow(error: unknown): boolean {
  return error instanceof RangeError && /call stack/i.test(error.message)
}
