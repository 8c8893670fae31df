/** The part of the package that is used; it comes without types. Locks of a file, from `offset` to the end. */
declare module 'fs-native-extensions' {
  export function tryLock(file: number): boolean
  export function waitForLockSync(file: number): void
  export function unlock(file: number): void
}
