import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A disk in memory, which tests fill. It does not outlive the process. */
export class SmallDisk {
  /** Where it is mounted. */
  readonly folder: string
  readonly #end = (): void => {
    spawnSync('umount', ['-l', this.folder])
    rmSync(this.folder, { recursive: true, force: true })
  }

  private constructor(folder: string) {
    this.folder = folder
    process.once('exit', this.#end)
  }

  /** `undefined` where this process may not mount one. */
  static mount(megabytes: number): SmallDisk | undefined {
    const folder = mkdtempSync(join(tmpdir(), 'leasehold-disk-'))
    const options = ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder]
    if (spawnSync('mount', options).status === 0) return new SmallDisk(folder)
    rmSync(folder, { recursive: true, force: true })
    return undefined
  }

  /** To its last byte. */
  fill(): void {
    const file = `of=${this.#ballast}`
    // It ends when no space is left.
    spawnSync('dd', ['if=/dev/zero', file, 'bs=64k'])
    spawnSync('dd', ['if=/dev/zero', file, 'bs=1', 'oflag=append', 'conv=notrunc', 'count=65536'])
  }

  /** Frees the space that `fill` took. */
  free(): void {
    rmSync(this.#ballast, { force: true })
  }

  /** Ends it with all that is on it. */
  unmount(): void {
    process.removeListener('exit', this.#end)
    this.#end()
  }

  get #ballast(): string {
    return join(this.folder, 'ballast')
  }
}
