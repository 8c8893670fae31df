const counted: unknown[] = []

/** A library whose promise fails with nobody listening would end the process: here it is counted. */
export function countUnhandledRejections(): void {
  process.on('unhandledRejection', (reason) => counted.push(reason))
}

export function unhandledRejections(): number {
  return counted.length
}
