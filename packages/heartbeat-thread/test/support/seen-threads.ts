import { Worker, type WorkerOptions } from 'node:worker_threads'
import { vi } from 'vitest'
import { fromSource } from './thread-options.js'

/** The threads that are started from now on, in order. They run the sources. */
export function seeThreads(): Worker[] {
  const threads: Worker[] = []
  class SeenWorker extends Worker {
    constructor(program: URL, options: WorkerOptions) {
      super(program, { ...options, ...fromSource })
      threads.push(this)
    }
  }
  const load = process.getBuiltinModule
  const seen = (id: string) =>
    id === 'node:worker_threads' ? { Worker: SeenWorker } : load.call(process, id as 'node:fs')
  vi.spyOn(process, 'getBuiltinModule').mockImplementation(seen as typeof load)
  return threads
}
