import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  statfsSync,
  statSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { LeaseUnavailableError } from '@leasehold/core'
import { shownValue } from '@leasehold/core/internal'
import { databaseFile } from './boot.js'
import { failureOf, misconfigured } from './failure-of.js'
import { networkFileSystem } from './network-file-systems.js'

/** The least free space that a new folder needs, in bytes: for the database, the epoch and the wake files. */
const LEAST_SPACE = 256 * 1024

const DEFAULT_MODE = 0o700

/** The sticky bit of a folder. */
const STICKY = 0o1000

/** Returns the state of a file system, as `fs.statfsSync` does. */
export type StatFileSystem = (path: string) => {
  readonly type: number
  readonly bavail: number
  readonly bsize: number
}

export interface LeaseFolderOptions {
  /** A folder on a local disk, the same for all processes. It is created if it does not exist. */
  readonly folder: string
  /** The permissions of a folder that is created, and of its content; `0o700` unless given: this user only. */
  readonly mode?: number | undefined
  /** For tests: returns the state of a file system. `fs.statfsSync` unless given. */
  readonly statfs?: StatFileSystem | undefined
}

export class LeaseFolder {
  readonly path: string
  /**
   * The permissions of created files: those of the mode, and those of the users who may write to the folder. A process that
   * gives no mode must not take a file away from the others when it replaces it.
   */
  readonly fileMode: number
  /** The permissions of created folders. */
  readonly #mode: number
  readonly #statfs: StatFileSystem

  /**
   * Creates the folder if it does not exist. Throws a `LeaseConfigurationError` if the folder can never be used, a
   * `LeaseUnauthorisedError` if this user may not write to it.
   */
  constructor({ folder, mode = DEFAULT_MODE, statfs = statfsSync }: LeaseFolderOptions) {
    if (typeof folder !== 'string' || folder === '') {
      throw misconfigured(
        `folder must be the path of a folder on a local disk, not ${folder === '' ? 'an empty text' : shownValue(folder)}`,
      )
    }
    if (!Number.isInteger(mode) || mode < 0 || mode > 0o7777) {
      throw misconfigured(`mode must be permission bits such as 0o700 or 0o770, not ${String(mode)}`)
    }
    this.path = resolve(folder)
    this.#mode = mode
    this.#statfs = statfs
    try {
      this.make()
      this.fileMode = (mode & 0o666) | permissionsOf(statSync(this.path).mode)
    } catch (error) {
      throw failureOf(error, this.path)
    }
    this.#checkFileSystem()
  }

  /** Whether all users may use a file, whoever owns it. */
  get isForAll(): boolean {
    return (this.fileMode & 0o006) === 0o006
  }

  file(name: string): string {
    return join(this.path, name)
  }

  /** Throws a `LeaseUnavailableError` if the disk is too full for a new database. */
  checkSpace(bootId: string): void {
    if (existsSync(this.file(databaseFile(bootId)))) return
    const { bavail, bsize } = this.#statfs(this.path)
    if (bavail * bsize >= LEAST_SPACE) return
    throw new LeaseUnavailableError(`the disk of ${this.path} is full: make room for at least ${LEAST_SPACE} bytes`, {
      store: 'local',
    })
  }

  /** Gives files the permissions that the umask removed; only the owner of a file may. */
  share(paths: readonly string[]): void {
    for (const path of paths) {
      const { uid, mode } = statSync(path)
      if (uid === process.geteuid?.() && (mode & 0o777) !== this.fileMode) chmodSync(path, this.fileMode)
    }
  }

  /**
   * Throws a `LeaseConfigurationError` if the file belongs to another user in a folder with the sticky bit, such as
   * `/run/lock`: there only the owner of a file may replace or remove it. If a log ended in favour of a file that other
   * users may not put in its place, they could not go on.
   */
  checkReplaceable(path: string): void {
    const user = process.geteuid?.()
    const uid = statSync(path, { throwIfNoEntry: false })?.uid
    const isReplaceable = uid === undefined || uid === user || (statSync(this.path).mode & STICKY) === 0
    if (user === undefined || isReplaceable) return
    throw misconfigured(
      `the folder ${this.path} has the sticky bit, so that only one user can have leases in it, and ${path} belongs to ` +
        `user ${uid}, not to user ${user}: choose a folder of its own for the leases, such as ${join(this.path, 'leases')}, ` +
        'and for several users a mode without the sticky bit, such as 0o770',
    )
  }

  /** Creates the folder, or one in it, if it does not exist, also if it was deleted meanwhile. */
  make(path = this.path): void {
    // Users who may read a file in the folder may also enter a folder in it.
    const mode = path === this.path ? this.#mode : this.fileMode | ((this.fileMode & 0o444) >> 2)
    // The umask of the process removes the permissions of other users.
    if (makeFolder(path, mode)) chmodSync(path, mode)
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
  }

  /**
   * Returns once the current names of its files are on the disk, and the content of the file `name`, if it is given.
   * Windows cannot open folders; the log of its file system keeps the order of changes.
   */
  flush(name?: string): void {
    if (name !== undefined) fsyncOf(this.file(name), 'r+')
    if (process.platform !== 'win32') fsyncOf(this.path, 'r')
  }

  #checkFileSystem(): void {
    const network = networkFileSystem(this.#statfs(this.path).type)
    if (network === undefined) return
    throw misconfigured(
      `the folder ${this.path} is on ${network}, which several machines may share, but a folder holds the leases of one ` +
        'machine: choose a folder on a local disk, or a store for several machines',
    )
  }
}

/**
 * Creates a folder and its parents; returns `false` if it exists. `mkdirSync` with `recursive` never returns where a file
 * system takes no folders, such as `/proc`.
 */
function makeFolder(path: string, mode: number): boolean {
  try {
    mkdirSync(path, mode)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' && statSync(path).isDirectory()) return false
    const parent = dirname(path)
    if (code !== 'ENOENT' || existsSync(parent)) throw error
    makeFolder(parent, mode)
    return makeFolder(path, mode)
  }
}

function fsyncOf(path: string, flags: string): void {
  const descriptor = openSync(path, flags)
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Reading and writing, for each class of users who may create and remove files in a folder with this mode. */
function permissionsOf(mode: number): number {
  // In a folder with the sticky bit, each file has one user.
  if ((mode & STICKY) !== 0) return 0
  const group = (mode & 0o030) === 0o030 ? 0o060 : 0
  const others = (mode & 0o003) === 0o003 ? 0o006 : 0
  return group | others
}
