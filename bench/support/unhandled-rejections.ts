const counted = new Set<Promise<unknown>>()

/** From now on, rejections that no code handles are counted, and do not end the process. */
export function countUnhandledRejections(): void {
  if (process.listenerCount('unhandledRejection') > 0) return
  process.on('unhandledRejection', (_, promise) => counted.add(promise))
}

export function unhandledRejections(): number {
  return counted.size
}
