const counted: unknown[] = []

/** Counts rejections without a handler, each of which would end the process. */
export function countUnhandledRejections(): void {
  process.on('unhandledRejection', (reason) => counted.push(reason))
}

export function unhandledRejections(): number {
  return counted.length
}
