import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { LeaseConfigurationError, LeaseError, LeaseUnauthorisedError, LeaseUnavailableError } from '@leasehold/core'
import { checkIdentifier, reasonOf, shownValue } from '@leasehold/core/internal'
import { checkOptionNames, encodeLeaseName, type NameAlphabet } from '@leasehold/core/store-kit'
import { LocalGuard } from '@leasehold/local'
import { LeaseFolder } from '@leasehold/local/internal'
import type { EntityState } from '../entity-state.js'
import { FencedState, STATE_OPTIONS, type StateOptions } from './fenced-state.js'

export interface FileStateOptions extends StateOptions {
  /** The permissions of folders that are created, and of files in them; `0o700` unless given: this user only. */
  readonly mode?: number | undefined
}

/** The folder of the state that serves no named region. No encoded name is a single percent sign. */
const UNNAMED = '%'

/**
 * Small letters only: some file systems do not tell `a` from `A`. A name has up to 255 bytes, some of which are for the
 * ending of the temporary file. A longer one ends in a hash of the id.
 */
const alphabet: NameAlphabet = {
  allows: (character) => /[a-z\d_=@+-]/.test(character),
  escape: '%',
  maxLength: 200,
}

/**
 * Keeps each entity as JSON in a file of its own, `<folder>/<region>/<id>.json`, for the processes of one machine. A file
 * is replaced as a whole: after a crash, it has the entity as saved last, or as saved before. A save that has resolved is on
 * the disk. Fencing tokens are kept by `LocalGuard` in the folder of the region.
 *
 * Each call blocks the thread until the disk has confirmed it, which takes milliseconds: use it for development, tests and
 * programs of one machine. The folder is created if it does not exist. Throws a `LeaseConfigurationError` if it is on a network
 * file system, or if the platform has no lock of files: see `LocalGuard`.
 */
export function fileState(folder: string, options: FileStateOptions = {}): EntityState {
  if (typeof folder !== 'string' || folder === '') {
    const message = `folder must be the path of a folder on a local disk, not ${shownValue(folder)}`
    throw new LeaseConfigurationError(message, { store: 'local' })
  }
  checkOptionNames<FileStateOptions>('fileState', options, { ...STATE_OPTIONS, mode: true }, { store: 'local' })
  const { mode, ...shared } = options
  return new FileState({ folder, mode }, undefined, shared)
}

/** Where the folders of the regions are. */
interface Place {
  readonly folder: string
  readonly mode: number | undefined
}

class FileState extends FencedState {
  readonly #place: Place
  readonly #folder: LeaseFolder
  readonly #guard: LocalGuard

  constructor(place: Place, region: string | undefined, options: StateOptions) {
    super('local', options)
    this.#place = place
    const name = region === undefined ? UNNAMED : encodeLeaseName(region, alphabet)
    const folder = { folder: join(place.folder, name), mode: place.mode }
    this.#folder = new LeaseFolder(folder)
    this.#guard = new LocalGuard(folder)
  }

  forRegion(name: string): EntityState {
    checkIdentifier('name of a region', name)
    return new FileState(this.#place, name, this.options)
  }

  protected async read(id: string, token: bigint): Promise<string | undefined> {
    const path = this.#pathOf(id)
    const text = this.#guard.transact(id, token, () => textIn(path))
    if (text === undefined) return undefined
    const lineEnd = text.indexOf('\n')
    if (text.slice(0, lineEnd) === JSON.stringify(id)) return text.slice(lineEnd + 1)
    const message = `the file ${path} is not that of entity '${id}': its first line has another id. Move the file away`
    throw new LeaseConfigurationError(message, { leaseName: id, store: 'local' })
  }

  protected async write(id: string, text: string, token: bigint): Promise<void> {
    const path = this.#pathOf(id)
    this.#guard.transact(id, token, () => {
      const part = `${path}.part`
      writeFile(part, `${JSON.stringify(id)}\n${text}`, this.#folder.fileMode)
      this.#folder.share([part])
      renameSync(part, path)
      // The new name is on the disk too.
      this.#folder.flush()
    })
  }

  protected failureOf(action: string, id: string, error: unknown): unknown {
    return error instanceof LeaseError ? error : fileFailure(action, id, error)
  }

  async close(): Promise<void> {
    await this.#guard.close()
  }

  #pathOf(id: string): string {
    return this.#folder.file(`${encodeLeaseName(id, alphabet)}.json`)
  }
}

function textIn(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Returns once the text is on the disk. */
function writeFile(path: string, text: string, mode: number): void {
  const file = openSync(path, 'w', mode)
  try {
    const data = Buffer.from(text)
    for (let written = 0; written < data.length; ) written += writeSync(file, data, written)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function fileFailure(action: string, id: string, error: unknown): LeaseError {
  const failed = `${action} failed: ${reasonOf(error)}`
  const details = { leaseName: id, store: 'local', cause: error }
  const code = (error as NodeJS.ErrnoException | undefined)?.code
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    const help = 'give this user the permission to write, or give fileState a mode such as 0o770 for several users'
    return new LeaseUnauthorisedError(`${failed}: ${help}`, details)
  }
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new LeaseUnavailableError(`${failed}: make room on the disk`, details)
  return new LeaseUnavailableError(`${failed}: check the folder and its disk`, details)
}
