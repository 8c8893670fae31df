import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Blocks the event loop. */
export type Block = 'a busy loop' | 'synchronous file reads' | 'garbage collection of a large heap'

export const blocks: readonly Block[] = ['a busy loop', 'synchronous file reads', 'garbage collection of a large heap']

const FILE_SIZE = 64 * 1024 * 1024
const OBJECTS = 2_000_000

/** Blocks the event loop for so many milliseconds. `folder` is for the file that is read. */
export function block(by: Block, duration: number, folder: string): void {
  const end = performance.now() + duration
  const file = join(folder, 'large')
  if (by === 'synchronous file reads') writeFileSync(file, Buffer.alloc(FILE_SIZE))
  const heap: object[] = []
  while (performance.now() < end) {
    if (by === 'synchronous file reads') readFileSync(file)
    if (by === 'garbage collection of a large heap') {
      while (heap.length < OBJECTS) heap.push({ at: heap.length })
      globalThis.gc?.()
    }
  }
}
