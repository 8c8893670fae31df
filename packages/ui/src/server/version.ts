/** The version of this package: a page of another one reloads itself. */
export const version = '0.1.0'
