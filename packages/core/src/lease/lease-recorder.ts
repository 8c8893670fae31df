/** Keeps the last decisions of the leases of a process in memory: `flightRecorder` of `@leasehold/recorder` makes it. */
export interface LeaseRecorder {
  /** Writes all that is in memory to a file, and returns its path. Throws the error of the file system. */
  write(): string
}
