"""The store on a Weaviate server: a cluster, Weaviate Cloud, or one on this machine."""
