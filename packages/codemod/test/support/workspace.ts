import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'
import { changeRedlock, type RedlockChanges } from '../../src/index.js'

const styles = fileURLToPath(new URL('../styles', import.meta.url))

/** Folders in this package, so that the compiler finds the packages that the changed code imports. They end with the tests. */
export class Workspace {
  readonly folder = mkdtempSync(fileURLToPath(new URL('../changed-', import.meta.url)))

  constructor() {
    afterAll(() => rmSync(this.folder, { recursive: true, force: true }))
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
