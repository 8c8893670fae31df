import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'
import { changeRedlock, type RedlockChanges } from '../../src/index.js'

const styles = fileURLToPath(new URL('../styles', import.meta.url))

const packages = fileURLToPath(new URL('../../../../node_modules', import.meta.url))

/** Folders that end with the tests. The compiler finds the packages that the changed code imports. */
export class Workspace {
  #folder: string | undefined

  /** Made at the first use: a run that skips all tests of a file does not clean up. */
  get folder(): string {
    if (this.#folder !== undefined) return this.#folder
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'leasehold-codemod-')))
    symlinkSync(packages, join(folder, 'node_modules'), 'dir')
    this.#folder = folder
    return folder
  }

  constructor() {
    afterAll(() => {
      if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true })
    })
  }

  /** A copy of the code of a style. */
  style(name: string): string {
    const folder = join(this.folder, name)
    for (const file of readdirSync(join(styles, name))) {
      mkdirSync(folder, { recursive: true })
      cpSync(join(styles, name, file), join(folder, file.replace(/\.txt$/, '')))
    }
    return folder
  }

  /** A folder with these files. */
  files(name: string, files: Readonly<Record<string, string>>): string {
    const folder = join(this.folder, name)
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      writeFileSync(join(folder, file), text)
    }
    return folder
  }
}

/** Changes a folder, as the program does. */
export function change(folder: string): RedlockChanges {
  const changes = changeRedlock([folder])
  for (const { file, text } of changes.changed) writeFileSync(file, text)
  return changes
}

/** The files of a folder by name. */
export function textsIn(folder: string): Record<string, string> {
  return Object.fromEntries(readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')]))
}
