/** Bytes of this process, after a garbage collection. */
export interface Memory {
  readonly heap: number
  readonly resident: number
}

export function collectedMemory(): Memory {
  globalThis.gc?.()
  globalThis.gc?.()
  const { heapUsed, rss } = process.memoryUsage()
  return { heap: heapUsed, resident: rss }
}
