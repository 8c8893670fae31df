import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { FolderError } from './create-error.js'

/** `git init` may come first: nothing of it is in the way. */
const HARMLESS: readonly string[] = ['.git']

/** Throws a `FolderError` if the folder has something in it, or cannot be read. */
export function checkFolder(folder: string): void {
  const present = entriesOf(folder).filter((entry) => !HARMLESS.includes(entry))
  if (present.length === 0) return
  const shown = present.slice(0, 3).join(', ')
  const more = present.length > 3 ? ` and ${present.length - 3} more` : ''
  throw new FolderError(`${folder} is not empty (${shown}${more}): choose another folder, or empty this one`)
}

function entriesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return []
    if (code === 'ENOTDIR') throw new FolderError(`${folder} is a file: choose another folder`)
    throw new FolderError(`${folder} cannot be read: ${message}`)
  }
}

/** Writes files that do not exist yet. If one cannot be written, those written before are removed again. */
export function writeProject(folder: string, files: ReadonlyMap<string, string>): void {
  const written: string[] = []
  try {
    for (const [path, text] of files) {
      const file = join(folder, path)
      mkdirSync(dirname(file), { recursive: true })
      // `wx`: a file that has come meanwhile is not overwritten.
      writeFileSync(file, text, { flag: 'wx' })
      written.push(file)
    }
  } catch (error) {
    for (const file of written) rmSync(file, { force: true })
    throw new FolderError(`${folder} cannot be written, and its files were removed again: ${(error as Error).message}`)
  }
}
