throw new Error('this module cannot begin')
