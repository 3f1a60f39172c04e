"""The lesson 'local': privacy at scale, without trust."""
