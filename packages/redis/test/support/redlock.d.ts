/** The part of redlock 5 that tests use: its package does not lead the compiler to its own types. */
declare module 'redlock' {
  interface Lock {
    readonly value: string
    /** Milliseconds since 1970. */
    readonly expiration: number
    release(): Promise<unknown>
    extend(duration: number): Promise<Lock>
  }
  interface Settings {
    readonly retryCount?: number
    readonly retryDelay?: number
    readonly retryJitter?: number
  }
  class Redlock {
    readonly settings: Settings
    constructor(clients: Iterable<object>, settings?: Settings)
    on(event: 'error', listener: (error: unknown) => void): this
    acquire(resources: string[], duration: number): Promise<Lock>
  }

  export = Redlock
}
