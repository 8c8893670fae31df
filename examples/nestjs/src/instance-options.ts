/** The token of the options of an instance. */
export const INSTANCE = 'INSTANCE'

export interface Instance {
  readonly name: string
  /** Where all instances of this machine keep their leases and their data. */
  readonly folder: string
}
